"""Workflows: graphs of groups, each of which is one workload."""
