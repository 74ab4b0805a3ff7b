"""Delete a row that others may still need. Pages and REST give the same reason for a refusal."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from django.db import transaction
from django.db.models import Model, ProtectedError, QuerySet

from core.words import first_names, name_first_three

ASK_ADMINISTRATOR = "For what you cannot open, ask an administrator."


class InUse(Exception):
    """The row cannot be deleted. The message says what needs the row and what to do."""


@dataclass(frozen=True)
class Dependents:
    """The objects that need a row, as one user sees them: the ``names`` of the visible ones, and
    the number of the others as ``hidden``, such as "2" or "2 workloads"."""

    names: Sequence[str]
    hidden: str = ""

    @classmethod
    def visible_among(cls, rows: QuerySet[Any], by: Any) -> Self:
        """Return the dependents among ``rows``, with the names that are visible to the user
        ``by``."""
        visible = rows.visible_to(by)  # type: ignore[attr-defined]
        return cls(first_names(visible), str(count_hidden(rows, by) or ""))

    @classmethod
    def from_names(cls, names: Sequence[str], count: int) -> Self:
        """Return dependents with these visible names, out of ``count`` rows."""
        return cls(names, str(count - len(names) or ""))

    def refusal(self, lead: str, advice: str) -> str:
        """Return the reason for a refusal: ``lead``, such as ``vision has workloads:``, the names,
        and the ``advice``. Empty if nothing needs the row."""
        if not (self.names or self.hidden):
            return ""
        dependents = []
        steps = []
        if self.names:
            dependents.append(name_first_three(self.names))
            steps.append(advice)
        if self.hidden:
            dependents.append(f"{self.hidden} that you cannot open")
            steps.append(ASK_ADMINISTRATOR)
        return f"{lead} {', and '.join(dependents)}. {' '.join(steps)}"


def count_hidden(rows: QuerySet[Any], by: Any) -> int:
    """Return how many of these rows are not visible to ``by``."""
    visible = rows.visible_to(by)  # type: ignore[attr-defined]
    return rows.exclude(pk__in=visible.order_by().values("pk")).count()


@contextmanager
def guard_deletion(row: Model, obstacle: Callable[[], str]) -> Iterator[None]:
    """Run the block, which deletes ``row``, in a transaction.

    Raises ``InUse`` with the text of ``obstacle`` unless that is empty, and also if a new row needs
    ``row`` by the time the block deletes it.
    """
    with transaction.atomic():
        if reason := obstacle():
            raise InUse(reason)
        try:
            yield
        except ProtectedError as error:  # a row was added after ``obstacle`` had looked
            raise InUse(obstacle() or f"{row} was in use a moment ago. Try again.") from error
