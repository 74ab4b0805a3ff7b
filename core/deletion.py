"""Delete a row that others may still need. Pages and REST refuse it in the same words."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from django.db import transaction
from django.db.models import Model, ProtectedError, QuerySet

from core.words import first_names, name_first_three

ASK_ADMINISTRATOR = "For what you cannot open, ask an administrator."


class InUse(Exception):
    """The row cannot be deleted; the message says what needs it and what to do."""


@dataclass(frozen=True)
class Dependents:
    """What needs a row, for one reader: the ``names`` that they may see, and how many others there
    are, in words such as "2" or "2 workloads"."""

    names: Sequence[str]
    hidden: str = ""

    @classmethod
    def visible_among(cls, rows: QuerySet[Any], by: Any) -> Self:
        """These rows, of which ``by`` is told the names of those that are visible to them."""
        visible = rows.visible_to(by)  # type: ignore[attr-defined]
        return cls(first_names(visible), str(count_hidden(rows, by) or ""))

    @classmethod
    def from_names(cls, names: Sequence[str], count: int) -> Self:
        """These names, of ``count`` rows."""
        return cls(names, str(count - len(names) or ""))

    def refusal(self, lead: str, advice: str) -> str:
        """``vision has workloads:``, the names, ``Delete them first.`` Empty if nothing needs the
        row."""
        if not (self.names or self.hidden):
            return ""
        unseen = [f"{self.hidden} that you cannot open"] if self.hidden else []
        both = ", and ".join([*([name_first_three(self.names)] if self.names else []), *unseen])
        what_to_do = [
            *([advice] if self.names else []),
            *([ASK_ADMINISTRATOR] if self.hidden else []),
        ]
        return f"{lead} {both}. {' '.join(what_to_do)}"


def count_hidden(rows: QuerySet[Any], by: Any) -> int:
    """How many of these rows are not visible to ``by``."""
    visible = rows.visible_to(by)  # type: ignore[attr-defined]
    return rows.exclude(pk__in=visible.order_by().values("pk")).count()


@contextmanager
def guard_deletion(row: Model, obstacle: Callable[[], str]) -> Iterator[None]:
    """A transaction that deletes ``row`` in the block. ``InUse`` with the words of ``obstacle``,
    unless they are empty; rows that came after it was asked keep ``row``, too."""
    with transaction.atomic():
        if reason := obstacle():
            raise InUse(reason)
        try:
            yield
        except ProtectedError as error:
            raise InUse(obstacle() or f"{row} was in use a moment ago. Try again.") from error
