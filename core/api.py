"""What all parts of the REST API share: the error body, paging, sorting words."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied, ValidationError
from ninja import Schema
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

PAGE_LIMIT = 500
LAST_OFFSET = 10**9


class Wire(Schema):
    """JSON in ``camelCase``, as Run:ai's API has it."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)


class Closed(Wire):
    """A request body: a key that is not known is an error, not ignored."""

    model_config = ConfigDict(extra="forbid")


class Issue(Wire):
    """One field that is wrong, addressed by its dotted wire name."""

    field: str
    details: str
    rule: str = ""


class ErrorBody(Wire):
    code: int
    message: str
    details: str = ""
    compliance_issues: list[Issue] = []


class ApiError(Exception):
    """An answer that is not success. ``issues`` name the fields that are wrong."""

    def __init__(
        self, code: int, message: str, *, details: str = "", issues: Iterable[Issue] = ()
    ) -> None:
        self.code, self.message, self.details, self.issues = code, message, details, list(issues)
        super().__init__(message)

    def body(self) -> dict[str, Any]:
        body = ErrorBody(
            code=self.code,
            message=self.message,
            details=self.details,
            compliance_issues=self.issues,
        )
        return body.model_dump(by_alias=True)


def not_found(what: str) -> ApiError:
    return ApiError(404, f"{what} was not found, or you may not see it.")


@contextmanager
def judged(refusal: str, *conflicts: type[Exception]) -> Iterator[None]:
    """A verb's verdict as an answer: 403, 409 for ``conflicts``, else 400 with ``refusal`` and the
    fields that are wrong."""
    try:
        yield
    except PermissionDenied as error:
        raise ApiError(403, str(error)) from error
    except conflicts as error:
        raise ApiError(409, str(error)) from error
    except ValidationError as error:
        raise ApiError(400, refusal, issues=issues_of(error.message_dict)) from error


def issues_of(errors: Mapping[str, Iterable[Any]]) -> list[Issue]:
    """By field, in the words of a form or a model; what is about the whole has no field."""
    return [
        Issue(field="" if field == NON_FIELD_ERRORS else to_camel(field), details=str(text))
        for field, texts in errors.items()
        for text in texts
    ]


class Pages(Wire):
    """``offset`` and ``limit`` of a list; ``next`` of the answer is the next offset or null."""

    offset: int = 0
    limit: int = 50

    def cut(self, rows: Any) -> tuple[list[Any], int | None]:
        """The page of a queryset or list, and where the next one starts."""
        limit = max(1, min(self.limit, PAGE_LIMIT))
        start = max(0, min(self.offset, LAST_OFFSET))
        found = list(rows[start : start + limit + 1])
        return found[:limit], start + limit if len(found) > limit else None
