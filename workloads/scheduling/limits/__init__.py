"""Limits on how long a workload may run or be idle, and what happens then."""
