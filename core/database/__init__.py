"""Connections, fields and queries that every model may use."""
