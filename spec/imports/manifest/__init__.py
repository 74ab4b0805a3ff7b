"""Turns a manifest of Kubernetes into a workload, and names everything in it that a workload cannot
have."""
