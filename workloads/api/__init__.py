"""REST: workloads, in Run:ai's paths and JSON. The second door to the same plan and submit."""
