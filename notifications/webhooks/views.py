"""The pages of webhooks."""

from datetime import datetime
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Max
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import Request, permission_required
from core.forms.form import Form, collect_errors
from core.web.http import render_partial
from core.web.pages import (
    deletion_page,
    form_page,
    is_in_drawer,
    question_page,
    respond_after_change,
)
from core.web.query import search_text
from core.words import count_nouns
from notifications import events
from notifications.models import Delivery, DeliveryState, MessageFormat, Webhook
from notifications.webhooks import services
from notifications.webhooks.forms import WebhookForm

WEBHOOKS_A_PAGE = 50
DELIVERIES_A_PAGE = 20
CRUMB = "Webhooks"
form_methods = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
@permission_required("webhooks.read")
def listing(request: Request) -> HttpResponse:
    text = search_text(request.GET)
    rows = Webhook.objects.visible_to(request.user).for_list()
    rows = rows.annotate(last_sent_at=Max("deliveries__sent_at")).order_by("name", "pk")
    if text:
        rows = rows.filter(name__icontains=text)
    page = Paginator(rows, WEBHOOKS_A_PAGE).get_page(request.GET.get("page"))
    return render_partial(request, "webhooks/webhooks.html", "rows", {"page": page, "q": text})


@form_methods
@permission_required("webhooks.create")
def create(request: Request) -> HttpResponse:
    form = WebhookForm(request.POST if request.method == "POST" else None, user=request.user)
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            webhook = services.create(
                by=request.user,
                place=form.chosen_scope,
                format=form.values.get("format", MessageFormat.SIGNED),
                **form.submitted_values(),
            )
            if webhook.is_slack:  # which is not signed
                return redirect(webhook.get_absolute_url())
            return _secret_page(request, webhook)
    return _webhook_page(request, form, "New webhook", "Create webhook", reverse("webhook-list"))


@require_safe
@permission_required("webhooks.read")
def detail(request: Request, pk: UUID) -> HttpResponse:
    webhook = _find_webhook(request, pk)
    page = Paginator(webhook.deliveries.all(), DELIVERIES_A_PAGE).get_page(request.GET.get("page"))
    is_busy = any(row.state == DeliveryState.PENDING for row in page)
    names = [events.event_label(name) for name in webhook.events]
    facts = (
        ("Address", webhook.masked_url),
        ("Format", webhook.get_format_display()),
        ("Scope", webhook.scope_name),
        ("Events", ", ".join(names)),
        ("Pending for long", f"After {count_nouns([(webhook.pending_minutes, 'minute')])}"),
        ("Created by", webhook.created_by or ""),
    )
    context = {"webhook": webhook, "page": page, "facts": facts, "is_busy": is_busy}
    return render_partial(request, "webhooks/webhook.html", "deliveries", context)


@form_methods
@permission_required("webhooks.update")
def edit(request: Request, pk: UUID) -> HttpResponse:
    webhook = _find_webhook(request, pk)
    title = f"Edit {webhook}"
    home = webhook.get_absolute_url()
    posted = request.POST if request.method == "POST" else None
    form = WebhookForm(posted, user=request.user, webhook=webhook)
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            services.update(webhook, by=request.user, **form.submitted_values())
            messages.success(request, f"{webhook} was saved.")
            return redirect(home)
    return _webhook_page(request, form, title, "Save changes", home)


@form_methods
@permission_required("webhooks.delete")
def delete(request: Request, pk: UUID) -> HttpResponse:
    webhook = _find_webhook(request, pk)
    return deletion_page(
        request,
        webhook,
        "webhook",
        lambda: services.delete(webhook, by=request.user),
        text="Its deliveries are deleted too. Messages that wait are not sent.",
        crumb=(CRUMB, reverse("webhook-list")),
        back=webhook.get_absolute_url(),
    )


@form_methods
@permission_required("webhooks.update")
def renew_secret(request: Request, pk: UUID) -> HttpResponse:
    webhook = _find_webhook(request, pk)
    if webhook.is_slack:
        raise Http404("Messages to Slack are not signed.")
    if request.method == "POST":
        services.renew_secret(webhook, by=request.user)
        return _secret_page(request, webhook)
    return question_page(
        request,
        title=f"New secret for {webhook}?",
        text="For 24 hours messages are signed with the old secret as well. Change it in the "
        "receiver before then.",
        submit="Create new secret",
        crumb=(CRUMB, reverse("webhook-list")),
        back=webhook.get_absolute_url(),
    )


@require_POST
@permission_required("webhooks.update")
def test(request: Request, pk: UUID) -> HttpResponse:
    webhook = _find_webhook(request, pk)
    services.send_test(webhook, by=request.user)
    return respond_after_change(request, webhook.get_absolute_url())


@require_safe
@permission_required("webhooks.read")
def delivery(request: Request, pk: UUID, delivery: UUID) -> HttpResponse:
    row = _find_delivery(request, pk, delivery)
    # The latest attempt comes first, as in other lists of events.
    tries = [
        attempt | {"at": datetime.fromisoformat(attempt["at"])} for attempt in reversed(row.log)
    ]
    context = {
        "delivery": row,
        "tries": tries,
        "webhook": row.webhook,
        "in_drawer": is_in_drawer(request),
    }
    return render_partial(request, "webhooks/delivery.html", "delivery", context)


@require_POST
@permission_required("webhooks.update")
def resend(request: Request, pk: UUID, delivery: UUID) -> HttpResponse:
    row = _find_delivery(request, pk, delivery)
    services.resend(row, by=request.user)
    return respond_after_change(request, row.webhook.get_absolute_url())


def _find_webhook(request: Request, pk: UUID) -> Webhook:
    return get_object_or_404(Webhook.objects.visible_to(request.user).for_list(), pk=pk)


def _find_delivery(request: Request, pk: UUID, delivery: UUID) -> Delivery:
    rows = Delivery.objects.filter(webhook=_find_webhook(request, pk)).select_related("webhook")
    return get_object_or_404(rows, pk=delivery)


def _secret_page(request: Request, webhook: Webhook) -> HttpResponse:
    """Return the page that shows a secret. The secret is shown only once, so this is not a redirect
    to another page."""
    response = render(request, "webhooks/secret.html", {"webhook": webhook})
    response["Cache-Control"] = "no-store"
    return response


def _webhook_page(request: Request, form: Form, title: str, submit: str, back: str) -> HttpResponse:
    return form_page(
        request,
        form,
        title=title,
        submit=submit,
        fields="components/inputs.html",
        crumb=(CRUMB, reverse("webhook-list")),
        back=back,
    )
