"""The pages of groups of users."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from accounts import groups
from accounts.forms import GroupForm
from accounts.http import Request, permission_required
from accounts.models import UserGroup
from core.forms.form import Form, collect_errors
from core.web.http import render_partial
from core.web.pages import form_page, respond_after_change
from core.web.query import search_text

GROUPS_A_PAGE = 50
form_methods = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
@permission_required("groups.read")
def listing(request: Request) -> HttpResponse:
    text = search_text(request.GET)
    rows = UserGroup.objects.annotate(people_count=Count("people")).order_by("name")
    if text:
        rows = rows.filter(name__icontains=text)
    page = Paginator(rows, GROUPS_A_PAGE).get_page(request.GET.get("page"))
    return render_partial(request, "accounts/groups.html", "rows", {"page": page, "q": text})


@form_methods
@permission_required("groups.create")
def create(request: Request) -> HttpResponse:
    form = GroupForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            name = str(form.values.get("name", ""))
            group = groups.create_group(by=request.user, name=name, people=form.selected_people())
            messages.success(request, f"The group {group} was created.")
            return respond_after_change(request, reverse("group-list"))
    return _group_page(request, form, "New group", "Create group")


@form_methods
@permission_required("groups.update")
def edit(request: Request, pk: int) -> HttpResponse:
    group = get_object_or_404(UserGroup, pk=pk)
    form = GroupForm(request.POST if request.method == "POST" else None, group=group)
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            groups.update_group(group, by=request.user, people=form.selected_people())
            messages.success(request, f"{group} was saved.")
            return respond_after_change(request, reverse("group-list"))
    return _group_page(request, form, f"Edit {group}", "Save changes")


def _group_page(request: Request, form: Form, title: str, submit: str) -> HttpResponse:
    return form_page(
        request,
        form,
        title=title,
        submit=submit,
        fields="components/inputs.html",
        crumb=("Groups", reverse("group-list")),
    )
