"""Assets by REST: one implementation for every kind that says how it is put on the wire."""
