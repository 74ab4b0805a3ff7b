"""What happens to a workload, written down and told: events, causes, changes."""
