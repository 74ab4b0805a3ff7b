"""Look at the queue and the shared directory, once or continuously."""
