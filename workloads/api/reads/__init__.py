"""Requests that read workloads."""
