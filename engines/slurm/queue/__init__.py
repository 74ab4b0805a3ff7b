"""What Slurm says of jobs, in its queue and in its accounting."""
