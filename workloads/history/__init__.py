"""Record what happens to workloads, and tell those who listen: events, causes, changes."""
