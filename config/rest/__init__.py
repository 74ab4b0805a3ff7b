"""Assembles the REST API, and describes it."""
