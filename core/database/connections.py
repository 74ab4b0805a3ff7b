"""Database connections of long-lived responses."""

from django.db import connection


def release_connection() -> None:
    """Close the connection of an open stream until it is needed again. There may be hundreds of
    streams, and PostgreSQL accepts a hundred connections by default."""
    if not connection.in_atomic_block:
        connection.close()
