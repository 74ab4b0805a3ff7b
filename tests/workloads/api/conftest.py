"""Who calls the API here."""

from tests.caller import call, project, researcher, seed_body, stranger

__all__ = ["call", "project", "researcher", "seed_body", "stranger"]
