"""Building blocks of the REST API: schemas, the error body, paging, and checks of query
parameters."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import unwrap
from types import MethodType
from typing import Annotated, Any, Self, cast

from django.conf import settings
from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied, ValidationError
from django.http import HttpRequest
from ninja import Field, Schema
from pydantic import (
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel

from core.deletion import InUse
from core.rest import correlation
from core.rest.validation import error_texts

API_PREFIXES = ("/api/", "/v1/")  # path prefixes of REST calls, which are answered in JSON
TENANT = 1  # Run:ai's id of the tenant; there is one
PAGE_LIMIT = 500
LAST_OFFSET = 10**9
LONGEST_STRING = 4096  # characters of a string in a body, unless its field says otherwise
LONGEST_PARAMETER = 500
TAKEN = "unique"
#: Django's error code → Run:ai's word for the rule that a value breaks.
INVALID = "invalid"  # if no other word fits
RULES = (
    *("required", "min", "max", "options", "step", "unique", "canEdit", "canAdd", "locked"),
    *("type", "format", "unknown", INVALID),
)
BROKEN_RULES = {
    "required": "required",
    "blank": "required",
    "null": "required",
    "min_value": "min",
    "min_length": "min",
    "max_value": "max",
    "max_length": "max",
    "invalid_choice": "options",
    "unique": TAKEN,
    "unique_together": TAKEN,
}
DRY_RUN = "dryRun"
UNKNOWN_PARAMETERS = "stray_parameters"  # attribute of a request: its unknown parameters
NextOffset = Annotated[
    int | None, Field(description="The offset of the next page; null on the last page")
]


class Wire(Schema):
    """JSON in ``camelCase``, like Run:ai's."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)

    @model_validator(mode="wrap")
    @classmethod
    def _run_root_validator(
        cls, values: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Any:
        """Skip ninja's attribute lookup for dictionaries and instances, which need none. It
        resolves each value as a template would, and takes most of the time of a list."""
        if isinstance(values, dict | cls):
            return handler(values)
        theirs = cast(Callable[..., Any], super()._run_root_validator)
        return theirs(values, handler, info)


class StrictBody(Wire):
    """A request body that refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", populate_by_name=False, str_max_length=LONGEST_STRING)


class Parameters(Wire):
    """Parameters of the query. Their texts are shorter than those of a body."""

    model_config = ConfigDict(str_max_length=LONGEST_PARAMETER)


def enum_schema(*choices: str) -> WithJsonSchema:
    """Describe a string as an enum in the OpenAPI document only; answers are not checked."""
    return WithJsonSchema({"type": "string", "enum": list(dict.fromkeys(choices))})


class Issue(Wire):
    """One field that is wrong, addressed by its dotted wire name."""

    field: str = Field(description="The path of the field in the request")
    details: str = Field(description="What is wrong with it")
    rule: Annotated[str, enum_schema(*RULES), BeforeValidator(lambda it: it or INVALID)] = Field(
        default=INVALID, description="The rule that the value breaks; invalid if no other word fits"
    )
    source: str = Field(
        default="", description="The policy or template that has the rule; empty for other rules"
    )


class ErrorBody(Wire):
    code: int = Field(description="The HTTP status")
    message: str = Field(description="What is wrong")
    details: str = Field(
        default="", description="What to do about it; empty if message says it all"
    )
    compliance_issues: list[Issue] = Field(default=[], description="Each field that is wrong")
    request_id: str = Field(
        default_factory=correlation.current_request_id,
        description="As in X-Request-Id and in the log",
    )


class ApiError(Exception):
    """An error response. ``issues`` name the fields that are wrong."""

    def __init__(
        self,
        code: int,
        message: str,
        *,
        details: str = "",
        issues: Iterable[Issue] = (),
        retry_after: int = 0,  # seconds, where trying again may help
    ) -> None:
        self.retry_after = retry_after
        self.code = code
        self.message = message
        self.details = details
        self.issues = list(issues)
        super().__init__(message)

    def body(self) -> dict[str, Any]:
        body = ErrorBody(
            code=self.code,
            message=self.message,
            details=self.details,
            compliance_issues=self.issues,
        )
        return body.model_dump(by_alias=True)


def not_found(subject: str) -> ApiError:
    return ApiError(404, f"{subject} was not found, or you do not have access to it.")


def too_large() -> ApiError:
    most = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE / 1024**2:g} MiB"
    details = f"A request has at most {most}: send a batch in several, and choose smaller files."
    return ApiError(413, "The request is too large.", details=details)


@contextmanager
def translate_errors(refusal: str) -> Iterator[None]:
    """Translate the exceptions of a verb into ``ApiError``: 403 without permission, 409 for a row
    in use and for taken names, else 400 with ``refusal`` and the wrong fields."""
    try:
        yield
    except PermissionDenied as error:
        raise ApiError(403, str(error)) from error
    except InUse as error:
        raise ApiError(409, str(error)) from error
    except ValidationError as error:
        raise refusal_error(refusal, issues_of(error)) from error


def refusal_error(refusal: str, issues: list[Issue], details: str = "") -> ApiError:
    """The error for these issues: 409 if all of them are taken names, else 400. ``details``
    defaults to the first issue."""
    if not details and issues:
        details = ": ".join(filter(None, (issues[0].field, issues[0].details)))
    clash = issues and all(issue.rule == TAKEN for issue in issues)
    return ApiError(409 if clash else 400, refusal, details=details, issues=issues)


def issues_of(error: ValidationError) -> list[Issue]:
    """The issues of a Django ``ValidationError``; those about the whole object have no field."""
    by_field = error.error_dict if hasattr(error, "error_dict") else {NON_FIELD_ERRORS: [error]}
    return [
        issue
        for field, errors in by_field.items()
        for single in errors
        for issue in _issues_of_field(field, single)
    ]


def _issues_of_field(field: str, error: ValidationError) -> list[Issue]:
    name = _field_name(field, error)
    rule = BROKEN_RULES.get(str(error.code), "")
    return [Issue(field=name, details=text, rule=rule) for text in error_texts(error)]


def _field_name(field: str, error: ValidationError) -> str:
    """Return the field of an error on the wire. If several columns must be unique together, that is
    the name, because people can change it."""
    if field != NON_FIELD_ERRORS:
        return to_camel(field)
    together = (error.params or {}).get("unique_check", ())
    return "name" if "name" in together else ""


class Count(Wire):
    count: int = Field(description="How many there are")


class Pages(Parameters):
    """``offset`` and ``limit`` of a list; ``next`` of the answer is the next offset or null."""

    offset: int = Field(default=0, ge=0, description="How many items to skip")
    limit: int = Field(
        default=50, ge=1, le=PAGE_LIMIT, description="The greatest number of items in the answer"
    )

    def cut(self, rows: Any) -> tuple[list[Any], int | None]:
        """The page of a queryset or list, and the offset of the next one or ``None``."""
        start = min(self.offset, LAST_OFFSET)
        window = list(rows[start : start + self.limit + 1])
        return window[: self.limit], start + self.limit if len(window) > self.limit else None


def note_unknown_parameters(run: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a call to record the query parameters it does not accept, before it is executed."""
    operation = operation_of(run)
    taken, lists = query_parameters_of(operation)
    judges_dry = DRY_RUN in taken
    if not judges_dry and is_write(operation):
        taken = {*taken, DRY_RUN}
    takes = f"it accepts {', '.join(sorted(taken))}" if taken else "it accepts none"

    @wraps(run)
    def noted(request: HttpRequest, *args: Any, **values: Any) -> Any:
        if not request.GET:
            return run(request, *args, **values)
        unknown = (name for name in request.GET if name not in taken)
        text = f"is not a parameter of this call; {takes}"
        issues = [Issue(field=name, details=text, rule="unknown") for name in unknown]
        twice = [name for name in taken - lists if len(request.GET.getlist(name)) > 1]
        issues += [Issue(field=name, details="is given more than once") for name in twice]
        no_flag = request.GET.get(DRY_RUN, "true") not in {"true", "false"}
        if not judges_dry and no_flag and DRY_RUN not in twice:
            issues.append(Issue(field=DRY_RUN, details="must be true or false", rule="type"))
        setattr(request, UNKNOWN_PARAMETERS, issues)
        return run(request, *args, **values)

    return noted


def refuse_unknown_parameters(view: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse a call with unknown parameters. Ignoring them would turn a misspelled dry run into a
    submission, and a misspelled filter into none."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **values: Any) -> Any:
        if issues := unknown_parameters_of(request):
            raise unreadable_request(issues)
        return view(request, *args, **values)

    return checked


def unknown_parameters_of(request: HttpRequest) -> list[Issue]:
    return list(getattr(request, UNKNOWN_PARAMETERS, ()))


def unreadable_request(issues: list[Issue]) -> ApiError:
    first = f"{issues[0].field} {issues[0].details}" if issues else ""
    return ApiError(400, "The request could not be read.", details=first, issues=issues)


def is_write(operation: Any) -> bool:
    """Whether the call changes something for a signed-in user, and so supports ``dryRun``."""
    return operation.methods != ["GET"] and operation.auth_param is not None


def operation_of(run: Callable[..., Any]) -> Any:
    """Ninja's operation behind its ``run`` method or a wrapper of it."""
    return cast(MethodType, unwrap(run)).__self__


def query_parameters_of(operation: Any) -> tuple[set[str], set[str]]:
    """The names of an operation's query parameters, and which of them may be repeated."""
    models = [it for it in operation.models if it.__ninja_param_source__ == "query"]
    taken = {name for model in models for name in model.__ninja_flatten_map__}
    return taken, {name for model in models for name in model.__ninja_collection_fields__}
