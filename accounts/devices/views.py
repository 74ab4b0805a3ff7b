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
WRONG_CODE = "There is no sign-in with this code. Check it, or start again: trainyard login"
TOO_MANY_CODES = "Too many wrong codes. Wait five minutes."


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def device(request: Request) -> HttpResponse:
    """Ask for the code, unless the address contains it, and then ask whether to approve."""
    data = request.POST if request.method == "POST" else request.GET
    code = data.get("code", "")[:20]
    if not code:
        return _device_page(request, status=422 if request.method == "POST" else 200)
    if not _count_attempt(request, dry_run=True):  # reads the count only
        return _device_page(request, refusal=TOO_MANY_CODES, status=429)
    sign_in = sign_ins.find_waiting(code)
    if sign_in is None:
        _count_attempt(request)
        return _device_page(request, code=code, refusal=WRONG_CODE, status=422)
    answer = ANSWERS.get(request.POST.get("answer", ""))
    if answer is None:
        return _device_page(request, sign_in=sign_in)
    try:
        answer(sign_in, by=request.user)
    except ValidationError as error:
        return _device_page(request, refusal=error.messages[0], status=422)
    return _device_page(request, sign_in=sign_in, done=request.POST["answer"])


def _count_attempt(request: Request, *, dry_run: bool = False) -> bool:
    """Count a wrong code, unless ``dry_run``. Returns whether another one is allowed."""
    limit = {"action": "device_code", "user": request.user, "limit_get": True}
    return bool(consume(request, app="allauth.account", dry_run=dry_run, **limit))


def _device_page(
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
        "days": sign_ins.KEY_LIFETIME.days,
    }
    return render(request, "accounts/device.html", context, status=status)
