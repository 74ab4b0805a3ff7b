"""The base class of our middleware."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


class EitherMiddleware:
    """Base of a middleware that runs in front of synchronous and asynchronous views alike.

    Without it, Django would use a thread for each request to an asynchronous view. If ``is_async``,
    ``get_response`` returns an awaitable, and ``__call__`` has to return one, too.
    """

    sync_capable = async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        raise NotImplementedError
