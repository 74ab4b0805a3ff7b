"""Engines talk to clusters. They are plain Python, and do not know each other."""
