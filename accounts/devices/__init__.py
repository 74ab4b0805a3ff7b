"""Sign in a command line by a code, which a user approves in a browser."""
