"""Sections about what a pod runs: image, command, variables, permissions, probes and tools."""
