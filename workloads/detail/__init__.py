"""The page of one workload, its tabs, and what is done from there."""
