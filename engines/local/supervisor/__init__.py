"""The supervisor, a small process that runs one workload."""
