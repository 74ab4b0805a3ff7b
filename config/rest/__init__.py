"""The REST API put together, and its description."""
