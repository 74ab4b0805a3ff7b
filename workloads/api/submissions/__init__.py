"""Workloads that programs submit, or try."""
