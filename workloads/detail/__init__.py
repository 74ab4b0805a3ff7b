"""The page of a workload, its tabs, and the actions on it."""
