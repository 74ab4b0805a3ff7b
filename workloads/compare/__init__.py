"""Compare workloads, or runs of one: what they reached, how they got there, and what differs."""
