"""Volumes, data sources and credentials."""
