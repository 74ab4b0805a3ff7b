"""What a Slurm cluster has: nodes, partitions, QOS, and what Trainyard lacks there."""
