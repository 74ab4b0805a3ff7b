"""The editor of policies, and what an edited policy would do to recent workloads."""
