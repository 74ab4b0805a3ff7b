"""Fixtures for callers of the API."""

from tests.caller import call, project, researcher, seed_body, stranger

__all__ = ["call", "project", "researcher", "seed_body", "stranger"]
