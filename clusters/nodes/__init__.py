"""The machines of a cluster, and the pools they form."""
