"""What a Slurm cluster has: nodes, partitions, accounts and QOS; and what is missing there."""
