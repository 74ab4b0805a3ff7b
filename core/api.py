"""What all parts of the REST API share: the error body, paging, sorting words."""

from collections.abc import Iterable
from typing import Any

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
