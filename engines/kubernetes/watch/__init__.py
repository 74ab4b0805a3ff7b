"""What changes on the cluster, as it changes."""
