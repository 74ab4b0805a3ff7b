"""What engine and supervisor keep on disk for each other."""
