"""The small process that stays with one workload."""
