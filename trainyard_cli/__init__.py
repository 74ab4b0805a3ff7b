"""The ``trainyard`` command: Trainyard's REST API for people at a terminal, and for scripts."""

#: The version of Trainyard, of its server too. It is here because this package is also installed
#: alone.
__version__ = "0.1.0"
