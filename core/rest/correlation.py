"""The id of a request. It connects the response, the error body and the log lines about it."""

import logging
import re
from collections.abc import Awaitable
from contextvars import ContextVar
from uuid import uuid4

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from core.middleware import EitherMiddleware

HEADER = "X-Request-Id"
FIT = re.compile(r"[\w.-]{1,64}", re.ASCII)

_current: ContextVar[str] = ContextVar("request_id", default="")


def current_request_id() -> str:
    """The id of the current request; empty outside of one, as in the worker."""
    return _current.get()


class RequestIdMiddleware(EitherMiddleware):
    """Uses the caller's id if it is fit for a log, else a new one.

    It stays set until the next request of this thread or task, because Django logs refusals after
    the middleware has finished.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        request_id = request.headers.get(HEADER, "")
        if not FIT.fullmatch(request_id):
            request_id = str(uuid4())
        _current.set(request_id)
        response = self.get_response(request)
        if isinstance(response, Awaitable):
            return _add_header_later(response, request_id)
        return _add_header(response, request_id)


class WithRequestId(logging.Filter):
    """Adds the request id to each log line about a request."""

    def filter(self, record: logging.LogRecord) -> bool:
        name = current_request_id()
        record.request_id = f" [{name}]" if name else ""
        return True


async def _add_header_later(answer: Awaitable[HttpResponseBase], name: str) -> HttpResponseBase:
    return _add_header(await answer, name)


def _add_header(response: HttpResponseBase, name: str) -> HttpResponseBase:
    response[HEADER] = name
    return response
