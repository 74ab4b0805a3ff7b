"""Lines of a log, from anywhere, of one rank or merged by time."""
