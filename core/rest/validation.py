"""Collect validation errors from several rules."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Model

REQUIRED = "This field is required."


def error_texts(error: ValidationError) -> Iterator[str]:
    """Return the messages of an error, with our own text for a blank model field."""
    return iter([REQUIRED] if error.code == "blank" else error.messages)


def run_rules(*rules: Callable[[], None]) -> None:
    """Run all rules and raise one ``ValidationError`` with everything they refuse."""
    errors: dict[str, Any] = {}
    for rule in rules:
        try:
            rule()
        except ValidationError as error:
            errors = error.update_error_dict(errors)
    if errors:
        raise ValidationError(errors)


@contextmanager
def refuse_taken_name(row: Model) -> Iterator[None]:
    """Run the block, which saves a validated ``row``. If another row got its name since the
    validation, raise the usual ``ValidationError`` instead of ``IntegrityError``."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        row.full_clean()
        raise
