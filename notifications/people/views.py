"""The pages of people's notifications and subscriptions."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import Request
from core.forms.form import Form, collect_errors
from core.web.http import is_visit, render_partial
from core.web.pages import deletion_page, form_page, respond_after_change
from notifications import events
from notifications.delivery import mail_server
from notifications.models import Subscription
from notifications.people import services
from notifications.people.forms import SubscriptionForm
from spec.kind import WorkloadKind

NOTIFICATIONS_A_PAGE = 50
MAILS_SHOWN = 20
CRUMB = "Notification settings"
form_methods = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
@login_required
def listing(request: Request) -> HttpResponse:
    rows = services.notifications_of(request.user)
    only_unread = "unread" in request.GET
    page = Paginator(rows.unread() if only_unread else rows, NOTIFICATIONS_A_PAGE)
    context = {"page": page.get_page(request.GET.get("page")), "only_unread": only_unread}
    return render_partial(request, "notifications/notifications.html", "rows", context)


@require_safe
@never_cache
def bell(request: Request) -> HttpResponse:
    """Answer the bell as a fragment. After a sign-out, the page keeps its own."""
    if not request.user.is_authenticated:
        return HttpResponse(status=204)
    return render(request, "layout/bell.html")


@require_safe
@login_required
def follow(request: Request, pk: int) -> HttpResponse:
    """Lead to what a notification is about. If a person follows it, the notification is read."""
    rows = services.notifications_of(request.user).filter(pk=pk)
    notification = get_object_or_404(rows)
    if is_visit(request):
        services.mark_as_read(rows, by=request.user)
    return redirect(notification.target_address)


@require_POST
@login_required
def mark_read(request: Request) -> HttpResponse:
    """Mark the notification in ``notification`` as read, or all of them without one."""
    rows = services.notifications_of(request.user)
    number = request.POST.get("notification", "")
    if number:
        rows = rows.filter(pk=int(number) if number.isdecimal() else 0)
    services.mark_as_read(rows, by=request.user)
    return respond_after_change(request, reverse("notification-list"))


@require_safe
@login_required
def subscriptions(request: Request) -> HttpResponse:
    rows = request.user.subscriptions.select_related("project")
    labels = dict(events.personal_choices())
    context = {
        "rows": [
            (row, _kind_labels(row), [labels[name] for name in row.events if name in labels])
            for row in rows
        ],
        "default": [labels[name] for name in Subscription().events],
        "has_mail_server": mail_server.find_active_server() is not None,
        "mails": request.user.mails.all()[:MAILS_SHOWN],
    }
    return render_partial(request, "notifications/subscriptions.html", "rows", context)


@form_methods
@login_required
def subscribe(request: Request) -> HttpResponse:
    form = SubscriptionForm(request.POST if request.method == "POST" else None, user=request.user)
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            services.subscribe(by=request.user, **form.submitted_values())
            return respond_after_change(request, reverse("subscription-list"))
    return _subscription_page(request, form, "New subscription", "Subscribe")


@form_methods
@login_required
def edit(request: Request, pk: UUID) -> HttpResponse:
    subscription = _find_subscription(request, pk)
    posted = request.POST if request.method == "POST" else None
    form = SubscriptionForm(posted, user=request.user, subscription=subscription)
    title = f"Edit {subscription}"
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            services.change_subscription(subscription, by=request.user, **form.submitted_values())
            messages.success(request, "The subscription was saved.")
            return respond_after_change(request, reverse("subscription-list"))
    return _subscription_page(request, form, title, "Save changes")


@form_methods
@login_required
def delete(request: Request, pk: UUID) -> HttpResponse:
    subscription = _find_subscription(request, pk)
    return deletion_page(
        request,
        subscription,
        "subscription",
        lambda: services.unsubscribe(subscription, by=request.user),
        text="You no longer get its events. Notifications that you have stay.",
        crumb=(CRUMB, reverse("subscription-list")),
    )


def _kind_labels(subscription: Subscription) -> list[str]:
    return [kind.label for kind in WorkloadKind if kind in subscription.kinds]


def _find_subscription(request: Request, pk: UUID) -> Subscription:
    return get_object_or_404(request.user.subscriptions.select_related("project", "user"), pk=pk)


def _subscription_page(request: Request, form: Form, title: str, submit: str) -> HttpResponse:
    return form_page(
        request,
        form,
        title=title,
        submit=submit,
        fields="components/inputs.html",
        crumb=(CRUMB, reverse("subscription-list")),
    )
