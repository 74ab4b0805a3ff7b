"""Connections, fields and queries: what every model may use."""
