"""Runs gangs as real processes of this machine. See ``docs/local-engine.md``.

What :mod:`engines.local.supervisor` imports stays light: it starts with every workload.
"""
