"""The small process that runs one workload."""
