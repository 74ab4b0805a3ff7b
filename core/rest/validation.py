"""Collect validation errors from several rules."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Model

REQUIRED = "This field is required."


def error_texts(error: ValidationError) -> Iterator[str]:
    """The messages of an error, with our own words for a blank model field."""
    return iter([REQUIRED] if error.code == "blank" else error.messages)


def run_rules(*rules: Callable[[], None]) -> None:
    """Run all rules and raise one ``ValidationError`` with everything they refuse."""
    wrong: dict[str, Any] = {}
    for rule in rules:
        try:
            rule()
        except ValidationError as error:
            wrong = error.update_error_dict(wrong)
    if wrong:
        raise ValidationError(wrong)


@contextmanager
def refuse_taken_name(row: Model) -> Iterator[None]:
    """Save a validated ``row`` in the block. If somebody else took its name meanwhile, the usual
    ``ValidationError`` is raised instead of ``IntegrityError``."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        row.full_clean()
        raise
