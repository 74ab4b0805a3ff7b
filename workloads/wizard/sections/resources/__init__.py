"""Sections about how many pods there are, and what each asks of its node."""
