"""Turn batch scripts of Slurm into workloads, for pages and REST."""
