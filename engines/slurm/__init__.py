"""Run gangs as Slurm batch jobs, with Slurm's own commands, on this host or over SSH."""
