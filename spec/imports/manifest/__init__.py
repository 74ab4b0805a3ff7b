"""A manifest of Kubernetes as a workload: what it says, and all in it that no workload can say."""
