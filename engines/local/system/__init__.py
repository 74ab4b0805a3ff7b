"""This machine, its processes and their limits."""
