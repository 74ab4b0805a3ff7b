"""Turn a launch into the objects of the cluster. Pure."""
