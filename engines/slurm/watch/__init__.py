"""Looking at the queue and the shared directory, once or all the time."""
