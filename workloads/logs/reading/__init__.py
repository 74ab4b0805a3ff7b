"""Read lines from any position, of one rank or merged by time."""
