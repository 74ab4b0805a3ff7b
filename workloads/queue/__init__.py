"""How a cluster's workloads were let in: what was foreseen, and what was decided."""
