"""Batch scripts of Slurm as workloads: what pages and REST make of one."""
