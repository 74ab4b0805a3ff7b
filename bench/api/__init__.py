"""Compares REST on PostgreSQL with the least code that could do the same, and the command line with
its imports alone."""
