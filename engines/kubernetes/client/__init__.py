"""How the API server is reached, and what it means when it is not."""
