"""What a cluster is and has: kinds, nodes, queues, use, and what we may do there."""
