"""REST: tokens, keys, users, and calls that are sent twice."""
