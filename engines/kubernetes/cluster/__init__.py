"""What a cluster offers: kinds of job, nodes, queues, usage, and our permissions on it."""
