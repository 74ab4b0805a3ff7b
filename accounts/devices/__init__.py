"""Signing in a command line by a code that a person approves where they are signed in already."""
