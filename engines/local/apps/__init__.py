"""Programs and frameworks in place of images, installed on first use.

They are in environments of their own, but can import Trainyard's packages: a notebook uses the same
torch. A supervisor installs them before the ranks start (``installing.py``).
"""
