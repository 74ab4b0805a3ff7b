"""Workloads as other programs write them. Pure."""
