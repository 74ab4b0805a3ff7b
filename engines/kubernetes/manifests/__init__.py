"""From a launch to the objects of the cluster. Pure."""
