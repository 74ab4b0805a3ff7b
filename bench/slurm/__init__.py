"""Benchmarks on a Slurm cluster."""
