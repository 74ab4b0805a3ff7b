"""REST on PostgreSQL beside the least that could do it, and the command line beside its imports."""
