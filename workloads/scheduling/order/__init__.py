"""The order of starts as pure functions: who starts, who waits, who is preempted; and storing these
decisions."""
