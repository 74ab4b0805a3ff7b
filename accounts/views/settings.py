"""The page of the general settings."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts import access, general
from accounts.forms import settings_form
from accounts.http import Request, permission_required


@require_http_methods(["GET", "HEAD", "POST"])
@permission_required("settings.read")
def edit(request: Request) -> HttpResponse:
    form = settings_form(
        request.POST if request.method == "POST" else None, general.read_settings()
    )
    if request.method == "POST" and form.is_valid():
        switches = {name: bool(form.values.get(name)) for name in form.fields}
        general.update_settings(by=request.user, **switches)
        messages.success(request, "The general settings were saved.")
        return redirect("settings")
    context = {"form": form, "may_update": access.may(request.user, "settings.update")}
    return render(request, "accounts/settings.html", context)
