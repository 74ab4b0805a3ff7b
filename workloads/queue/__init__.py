"""How a cluster's workloads were admitted: what was forecast, and what was decided."""
