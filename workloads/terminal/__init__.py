"""Terminals, programs and forwarded ports in running ranks."""
