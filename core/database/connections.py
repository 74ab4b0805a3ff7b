"""Database connections of answers that stay open for long."""

from django.db import connection


def let_go() -> None:
    """An open stream keeps no database connection to itself: there may be hundreds of them, and
    PostgreSQL takes a hundred connections unless told otherwise."""
    if not connection.in_atomic_block:
        connection.close()
