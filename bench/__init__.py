"""Benchmarks, each side by side with a peer in the same run. ``make bench`` prints the table.

A benchmark is a module whose ``rows`` measures and yields rows of the table.
"""
