"""Renders the scripts of a run: one for Slurm, one that each rank runs, and its variables."""
