"""What objects of the cluster say, as phases, causes and ends. Pure."""
