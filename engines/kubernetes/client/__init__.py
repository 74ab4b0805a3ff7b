"""Access to the API server, and explanations when there is none."""
