"""REST for policies."""
