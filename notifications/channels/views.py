"""The page of the mail server."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from accounts import access
from accounts.http import Request, permission_required
from core.forms.form import collect_errors
from core.web.http import render_partial
from core.web.pages import deletion_page
from notifications.channels import services
from notifications.channels.forms import mail_server_form, submitted_server
from notifications.delivery import mail_server

CRUMB = "Mail server"
form_methods = require_http_methods(["GET", "HEAD", "POST"])


@form_methods
@permission_required("settings.read")
def edit(request: Request) -> HttpResponse:
    """Show and save the mail server. The button *Send test mail* sends one with the values of the
    form, which stay unsaved."""
    if request.method == "POST":
        access.require(request.user, "settings.update")
    present = mail_server.find_server()
    posted = request.POST if request.method == "POST" else None
    form = mail_server_form(posted, present)
    is_test = posted is not None and "test" in posted
    fault = ""
    if posted is not None and form.is_valid():
        with collect_errors(form):
            server = services.build_mail_server(**submitted_server(form))
            if is_test:
                to = [request.user.email] if request.user.email else []
                fault = services.send_test_mail(server, by=request.user, to=to)
            else:
                is_enabled = bool(form.values.get("enabled", True))
                services.save_mail_server(server, by=request.user, enabled=is_enabled)
                messages.success(request, "The mail server was saved.")
                return redirect("mail-server")
    context = {
        "form": form,
        "present": present,
        "is_of_environment": present is not None and not present.is_saved,
        "is_test": is_test,
        "fault": fault,
        "may_update": access.may(request.user, "settings.update"),
    }
    status = 422 if posted is not None and not form.is_valid() else 200
    template = "notifications/mail_server.html"
    return render_partial(request, template, "outcome", context, status=status)


@form_methods
@permission_required("settings.update")
def delete(request: Request) -> HttpResponse:
    present = mail_server.find_server()
    if present is None:
        return redirect("mail-server")
    after = mail_server.server_of_environment()
    return deletion_page(
        request,
        present,
        "mail server",
        lambda: services.delete_mail_server(by=request.user),
        text=f"Emails are sent by {after} then." if after else "No emails are sent then.",
        crumb=(CRUMB, reverse("mail-server")),
        obstacle="" if present.is_saved else services.OF_ENVIRONMENT,
    )
