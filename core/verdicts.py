"""What several rules say against the same values, at once."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import ValidationError


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
