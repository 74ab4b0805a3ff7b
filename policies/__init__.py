"""Policies: what administrators decide about the fields of workloads, and whether a workload
complies."""
