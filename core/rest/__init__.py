"""Helpers that all parts of the REST API share."""
