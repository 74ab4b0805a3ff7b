"""Volumes and data sources of ranks on this machine: folders that they see at their paths."""
