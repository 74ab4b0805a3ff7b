"""Clusters and nodes by REST."""
