"""The nodes of a cluster, and its node pools."""
