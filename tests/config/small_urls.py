"""Addresses for ``test_handler``. The last one answers on the event loop."""

import inspect
import threading

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path

ANSWERED: list[str] = []


def plain(request: HttpRequest) -> HttpResponse:
    ANSWERED.append(threading.current_thread().name)
    return HttpResponse(request.body.upper())


def callers(request: HttpRequest) -> HttpResponse:
    """Answer with the names of the functions on the stack."""
    functions = (each.frame.f_code.co_name for each in inspect.stack(context=0))
    return HttpResponse(" ".join(functions))


def in_pieces(request: HttpRequest) -> StreamingHttpResponse:
    """Answer with an iterator that is not asynchronous, as a package added later might."""
    return StreamingHttpResponse(iter([b"one ", b"two"]))


async def streaming(request: HttpRequest) -> HttpResponse:
    ANSWERED.append(threading.current_thread().name)
    return HttpResponse("streamed")


urlpatterns = [
    path("plain", plain),
    path("api/plain", plain),
    path("callers", callers),
    path("pieces", in_pieces),
    path("streaming", streaming),
]
