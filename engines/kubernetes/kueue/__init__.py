"""Kueue: the queues that decide when a job may start, where it is installed."""
