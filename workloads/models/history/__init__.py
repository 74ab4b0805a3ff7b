"""Rows of what happened to a workload: events, causes, decisions, samples, what is left of it."""
