"""The datasets of the programs: read from files, or generated."""
