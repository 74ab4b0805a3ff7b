"""Turns what Slurm and the scripts report about a run into an observation. Pure."""
