"""Run gangs as batch jobs of Slurm, with its own commands, on this host or over SSH."""
