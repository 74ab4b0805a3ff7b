"""From what Slurm and the scripts say of a run to an observation. Pure."""
