"""Measurements on a Slurm cluster."""
