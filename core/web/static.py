"""Static files under ASGI, by WhiteNoise's rules: hashed names, compressed, cached for years."""

from collections.abc import Awaitable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware

from core.middleware import GetResponse


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc] # whitenoise has no types
    """WhiteNoise without a thread per request, and with the file in one piece.

    WhiteNoise answers with a synchronous stream. Under ASGI Django warns about that and reads it
    completely anyway; our largest file has a few hundred kilobytes.
    """

    sync_capable = async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        super().__init__(get_response)
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        answer: HttpResponseBase | Awaitable[HttpResponseBase]
        answer = self.later(request) if self.is_async else super().__call__(request)
        return answer

    async def later(self, request: HttpRequest) -> HttpResponseBase:
        answer: HttpResponseBase | Awaitable[HttpResponseBase] = super().__call__(request)
        return await answer if isinstance(answer, Awaitable) else answer

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        answer = static_file.get_response(request.method, request.META)
        body = b""
        if answer.file is not None:
            with answer.file:
                body = answer.file.read()
        headers = dict(answer.headers)
        # A response without a body (304) has no content type, but Django would add one.
        response = HttpResponse(body, status=int(answer.status), headers=headers)
        if "Content-Type" not in headers:
            del response["Content-Type"]
        return response
