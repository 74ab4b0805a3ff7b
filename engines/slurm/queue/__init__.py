"""What Slurm reports about jobs, in its queue and in its accounting."""
