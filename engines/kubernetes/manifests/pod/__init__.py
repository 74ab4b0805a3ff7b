"""A pod of a workload, part by part. Pure."""
