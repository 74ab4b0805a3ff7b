"""Reach the cluster: commands, files on its shared directory, terminals and ports."""
