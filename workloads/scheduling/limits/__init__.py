"""For how long a workload may run or be idle, and how it ends then."""
