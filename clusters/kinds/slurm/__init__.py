"""Slurm: its own commands, on this host or on a login node over SSH."""
