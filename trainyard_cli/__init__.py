"""The ``trainyard`` command: Trainyard's REST API for people at a terminal, and for scripts."""

__version__ = "0.1.0"
