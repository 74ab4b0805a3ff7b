"""The New Workload wizard: three pages over one draft."""
