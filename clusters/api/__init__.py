"""REST: clusters, their nodes, node pools and storage classes."""
