"""Metrics reported by trainings and measured on machines: stored, thinned out and drawn."""
