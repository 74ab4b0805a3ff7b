"""Passwords, keys and tokens. Workloads name them, the database keeps them encrypted, and engines
get them when a workload starts."""
