"""What programs ask of workloads that there are."""
