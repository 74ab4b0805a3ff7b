"""The REST API as commands call it: with a token, for changes, under the addresses of each kind."""
