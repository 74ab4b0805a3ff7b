"""A terminal into a running rank."""
