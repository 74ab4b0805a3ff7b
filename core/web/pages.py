"""Pages that many packages share: a form, a confirmation, and the confirmation of a deletion. Each
fits the drawer and a full page."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Model
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import trigger_client_event

from core.deletion import InUse
from core.forms.form import Form
from core.web.http import HtmxRequest, render_partial

Crumb = tuple[str, str]  # label, address


def is_in_drawer(request: HtmxRequest) -> bool:
    """Whether the response goes into the drawer."""
    return bool(request.htmx) and request.htmx.target == "drawer"


def form_page(
    request: HtmxRequest,
    form: Form,
    *,
    title: str,
    submit: str,
    fields: str,
    crumb: Crumb,
    back: str = "",
    **context: Any,
) -> HttpResponse:
    """Render a form; a POST that gets here was invalid and answers 422. ``fields`` names the
    template of the fields."""
    context |= {
        "form": form,
        "title": title,
        "submit": submit,
        "fields": fields,
        "crumb": crumb,
        "address": request.get_full_path(),
        "back": back or crumb[1],
        "in_drawer": is_in_drawer(request),
    }
    status = 422 if request.method == "POST" else 200
    return render_partial(request, "form_page.html", "form", context, status=status)


def question_page(
    request: HtmxRequest,
    *,
    title: str,
    text: str,
    submit: str,
    crumb: Crumb,
    back: str = "",
    refusal: str = "",
) -> HttpResponse:
    """Render a confirmation. With a ``refusal`` it explains why the action is impossible, and a
    POST answers 422."""
    context = {
        "title": title,
        "text": text,
        "submit": submit,
        "crumb": crumb,
        "address": request.get_full_path(),
        "back": back or crumb[1],
        "refusal": refusal,
        "in_drawer": is_in_drawer(request),
    }
    status = 422 if refusal and request.method == "POST" else 200
    return render_partial(request, "question_page.html", "question", context, status=status)


def deletion_page(
    request: HtmxRequest,
    row: Model,
    noun: str,
    delete: Callable[[], None],
    *,
    text: str,
    crumb: Crumb,
    back: str = "",
    home: str = "",
    obstacle: str = "",
) -> HttpResponse:
    """Ask whether to delete ``row`` (GET), then ``delete`` it (POST) and go ``home``, by default
    where ``crumb`` leads. An ``obstacle`` is shown instead of the question."""
    name = str(row)
    if request.method == "POST":
        try:
            delete()
        except InUse as error:
            obstacle = str(error)
        else:
            messages.success(request, f"The {noun} {name} was deleted.")
            return respond_after_change(request, home or crumb[1])
    return question_page(
        request,
        title=f"Delete {name}?",
        text=text,
        submit=f"Delete {noun}",
        crumb=crumb,
        back=back,
        refusal=obstacle,
    )


def return_address(request: HtmxRequest) -> str:
    """Return the address in ``?next=`` if it is one of ours; else an empty text."""
    back = request.GET.get("next", "")
    ours = url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure())
    return back if ours else ""


def respond_with_created(
    request: HtmxRequest, kind: str, pk: object, home: str, **more: object
) -> HttpResponse:
    """Respond after creating an object, selecting it on the page that asked for one in ``?slot=``.

    With htmx that page gets an event; without, the selection is in the address of ``?next=``. If no
    page asked, redirect to ``home``.
    """
    slot = request.GET.get("slot", "")
    back = return_address(request)
    if request.htmx:
        detail = {"kind": kind, "id": str(pk), "slot": slot, **more}
        return trigger_client_event(respond_after_change(request, ""), "asset-created", detail)
    if not back:
        return redirect(home)
    joint = "&" if "?" in back else "?"
    return redirect(f"{back}{joint}{urlencode({kind: pk, 'slot': slot})}")


def respond_after_change(request: HtmxRequest, address: str) -> HttpResponse:
    """Respond after a change. In the drawer: close it and have the page behind it reload its parts
    (``hx-trigger="page-changed from:body"``). On a full page: redirect to ``address``."""
    if not request.htmx:
        return redirect(address)
    response = HttpResponse(status=204)
    trigger_client_event(response, "page-changed")
    return trigger_client_event(response, "drawer-close")
