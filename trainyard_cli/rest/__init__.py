"""Access to the REST API for commands: the client, the sign-in, the stream of changes, and the path
of each kind."""
