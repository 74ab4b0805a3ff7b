"""Programs and frameworks that images bring, installed here the first time that one is asked for.

They stand apart from Trainyard's own packages, but see them: a notebook imports the torch that
trains here. A supervisor installs them before the ranks start (``installing.py``).
"""
