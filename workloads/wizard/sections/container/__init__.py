"""Sections about what a pod runs: its image, command, variables, rights, probes and tools."""
