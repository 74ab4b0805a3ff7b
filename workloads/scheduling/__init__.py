"""Decide whether and where workloads may start."""
