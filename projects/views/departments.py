"""The pages of departments: administrators set their quotas and see what their projects use."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts import access
from accounts.http import Request, permission_required
from core.forms.form import collect_errors
from core.web.http import render_partial
from core.web.pages import deletion_page, form_page, respond_after_change
from core.web.query import search_text
from projects import departments
from projects.forms import DepartmentForm, initial_shared_values
from projects.lending import enforcement_sentence, pool_bars
from projects.meters import meters
from projects.models import Department
from projects.views.pages import current_quota_warning, form_methods

DEPARTMENTS_A_PAGE = 50


@require_safe
@permission_required("departments.read")
def listing(request: Request) -> HttpResponse:
    text = search_text(request.GET)
    visible = Department.objects.visible_to(request.user)
    matches = visible.select_related("cluster").order_by("name", "pk")
    if text:
        matches = matches.filter(name__icontains=text)
    page = Paginator(matches, DEPARTMENTS_A_PAGE).get_page(request.GET.get("page"))
    rows = [
        {"share": share, "meters": meters(share.quota, share.usage)}
        for share in departments.shares_of(list(page))
    ]
    context = {"page": page, "rows": rows, "q": text}
    return render_partial(request, "projects/departments.html", "rows", context)


@form_methods
@permission_required("departments.create")
def create(request: Request) -> HttpResponse:
    posted = request.POST if request.method == "POST" else None
    form = DepartmentForm(posted, by=request.user, initial={"over_quota": True})
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            department = departments.create_department(
                by=request.user, cluster=form.cluster, **form.service_values()
            )
            messages.success(request, f"The department {department} was created.")
            return respond_after_change(request, reverse("department-list"))
    return _form(request, form, "New department", "Create department")


@form_methods
@permission_required("departments.update")
def edit(request: Request, pk: int) -> HttpResponse:
    department = get_object_or_404(
        Department.objects.visible_to(request.user).select_related("cluster"), pk=pk
    )
    access.require(request.user, "departments.update", *department.scope_keys)
    posted = request.POST if request.method == "POST" else None
    fixed = ("cluster",)  # its projects and assets are there
    form = DepartmentForm(
        posted, by=request.user, initial=initial_shared_values(department), fixed=fixed
    )
    warning = current_quota_warning(department)
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            departments.update_department(department, by=request.user, **form.service_values())
            messages.success(request, f"{department} was saved.")
            if warning := current_quota_warning(
                department
            ):  # the list that follows has no room for it
                messages.warning(request, warning)
            return respond_after_change(request, reverse("department-list"))
    neighbors = departments.shares_of(list(Department.objects.filter(cluster=department.cluster)))
    return _form(
        request,
        form,
        f"Edit {form.initial['name']}",
        "Save changes",
        warning=warning,
        pools=pool_bars(
            department,
            lambda pool: {
                share.department.pk: (share.quota_in(pool), share.usage_in(pool))
                for share in neighbors
            },
        ),
        enforcement=enforcement_sentence(department.cluster),
    )


@form_methods
@permission_required("departments.delete")
def delete(request: Request, pk: int) -> HttpResponse:
    department = get_object_or_404(Department.objects.visible_to(request.user), pk=pk)
    access.require(request.user, "departments.delete", *department.scope_keys)
    return deletion_page(
        request,
        department,
        "department",
        lambda: departments.delete_department(department, by=request.user),
        text="Its assets, credentials among them, and its webhooks are deleted too.",
        crumb=("Departments", reverse("department-list")),
        obstacle=departments.obstacle_to_delete(department, request.user),
    )


def _form(
    request: Request, form: DepartmentForm, title: str, submit: str, **context: Any
) -> HttpResponse:
    return form_page(
        request,
        form,
        title=title,
        submit=submit,
        fields="projects/department_fields.html",
        crumb=("Departments", reverse("department-list")),
        **context,
    )
