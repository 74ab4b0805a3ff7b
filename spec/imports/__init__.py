"""Reads workloads from documents of other programs: batch scripts and manifests. Pure."""
