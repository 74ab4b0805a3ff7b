"""Volumes and data sources on this machine: folders that ranks see at their paths."""
