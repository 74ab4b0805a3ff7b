"""Build the pods of a workload, part by part. Pure."""
