"""Programs and frameworks in place of images, installed on first use.

Each has an environment of its own, which can also import Trainyard's packages: a notebook uses the
same torch. A supervisor installs them before the ranks start (``installing.py``).
"""
