"""Whether a workload may start, and where."""
