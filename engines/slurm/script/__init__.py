"""The scripts that a run becomes: one for Slurm, one that each rank runs, and its variables."""
