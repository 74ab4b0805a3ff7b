"""Delete a row that others may still need. Pages and REST refuse it in the same words."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import transaction
from django.db.models import Model, ProtectedError


class InUse(Exception):
    """The row cannot be deleted; the message says what needs it and what to do."""


@contextmanager
def deleting(row: Model, obstacle: Callable[[], str]) -> Iterator[None]:
    """A transaction that deletes ``row`` in the block. ``InUse`` with the words of ``obstacle``,
    unless they are empty; rows that came after it was asked keep ``row``, too."""
    with transaction.atomic():
        if reason := obstacle():
            raise InUse(reason)
        try:
            yield
        except ProtectedError as error:
            raise InUse(obstacle() or f"{row} was in use a moment ago. Try again.") from error
