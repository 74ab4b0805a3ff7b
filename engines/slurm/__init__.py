"""Gangs as batch jobs of Slurm, by its own commands, on this host or over SSH."""
