"""What several rules say against the same values, at once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Model

REQUIRED = "This field is required."


def texts_of(error: ValidationError) -> Iterator[str]:
    """Django has words of its own for a text that is empty in a model."""
    return iter([REQUIRED] if error.code == "blank" else error.messages)


def judge_all(*rules: Callable[[], None]) -> None:
    """``ValidationError`` with what each of them refuses, so that none hides what others say."""
    wrong: dict[str, Any] = {}
    for rule in rules:
        try:
            rule()
        except ValidationError as error:
            wrong = error.update_error_dict(wrong)
    if wrong:
        raise ValidationError(wrong)


@contextmanager
def unless_taken(row: Model) -> Iterator[None]:
    """Saves ``row``, which was judged. Who takes a name a moment later than somebody else is told
    as usual: by ``ValidationError``."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        row.full_clean()
        raise
