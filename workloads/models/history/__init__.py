"""Rows about a workload's past: events, causes, decisions, samples, and what outlives its
deletion."""
