"""``/device/``: approve a command line that shows a code."""

from allauth.core.internal.ratelimit import consume
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from accounts.devices import sign_ins
from accounts.http import Request
from accounts.models import DeviceSignIn

ANSWERS = {"approve": sign_ins.approve, "deny": sign_ins.deny}
WRONG = "There is no sign-in with this code. Check it, or start again: trainyard login"
MANY = "Too many wrong codes. Wait five minutes."


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def device(request: Request) -> HttpResponse:
    """The code is asked for, or comes with the address; then a person says yes or no."""
    given = request.POST if request.method == "POST" else request.GET
    code = given.get("code", "")[:20]
    if not code:
        return _page(request, status=422 if request.method == "POST" else 200)
    if not _may_try(request, dry_run=True):
        return _page(request, refusal=MANY, status=429)
    sign_in = sign_ins.waiting(code)
    if sign_in is None:
        _may_try(request)
        return _page(request, code=code, refusal=WRONG, status=422)
    answer = ANSWERS.get(request.POST.get("answer", ""))
    if answer is None:
        return _page(request, sign_in=sign_in)
    try:
        answer(sign_in, by=request.user)
    except ValidationError as late:
        return _page(request, refusal=late.messages[0], status=422)
    return _page(request, sign_in=sign_in, done=request.POST["answer"])


def _may_try(request: Request, *, dry_run: bool = False) -> bool:
    """Whether another wrong code is forgiven, which this counts as one."""
    limit = {"action": "device_code", "user": request.user, "limit_get": True}
    return bool(consume(request, app="allauth.account", dry_run=dry_run, **limit))


def _page(
    request: Request,
    *,
    code: str = "",
    sign_in: DeviceSignIn | None = None,
    refusal: str = "",
    done: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        "code": code,
        "sign_in": sign_in,
        "refusal": refusal,
        "done": done,
        "days": sign_ins.KEY_LIVES.days,
    }
    return render(request, "accounts/device.html", context, status=status)
