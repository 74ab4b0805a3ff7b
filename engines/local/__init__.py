"""Run gangs as real processes of this machine. See ``docs/local-engine.md``.

Keep what :mod:`engines.local.supervisor` imports small: it starts with every workload.
"""
