"""Pages of the workloads: find, call one verb, render."""
