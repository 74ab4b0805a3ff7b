"""Departments: administrators give each a quota and see what its projects hold of it."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.http import Request, administrators_only
from core.forms import judged
from core.http import render_partial
from core.pages import done, form_page, question_page
from core.query import search_text
from projects import departments
from projects.forms import DepartmentForm, initial_of
from projects.meters import meters
from projects.models import Department
from projects.views.pages import form_methods, overbooked_now

DEPARTMENTS_A_PAGE = 50


@require_safe
@administrators_only
def listing(request: Request) -> HttpResponse:
    text = search_text(request.GET)
    found = Department.objects.select_related("cluster").order_by("name", "pk")
    if text:
        found = found.filter(name__icontains=text)
    page = Paginator(found, DEPARTMENTS_A_PAGE).get_page(request.GET.get("page"))
    rows = [
        {"share": share, "meters": meters(share.quota, share.held)}
        for share in departments.shares_of(list(page))
    ]
    context = {"page": page, "rows": rows, "q": text}
    return render_partial(request, "projects/departments.html", "rows", context)


@form_methods
@administrators_only
def create(request: Request) -> HttpResponse:
    form = DepartmentForm(
        request.POST if request.method == "POST" else None, initial={"over_quota": True}
    )
    if request.method == "POST" and form.is_valid():
        with judged(form):
            department = departments.create_department(by=request.user, **form.values())
            messages.success(request, f"The department {department} is created.")
            return done(request, reverse("department-list"))
    return _form(request, form, "New department", "Create department")


@form_methods
@administrators_only
def edit(request: Request, pk: int) -> HttpResponse:
    department = get_object_or_404(Department.objects.select_related("cluster"), pk=pk)
    data = request.POST if request.method == "POST" else None
    form = DepartmentForm(data, initial=initial_of(department))
    form.fields["cluster"].disabled = True  # its projects and assets are there
    warning = overbooked_now(department)
    if request.method == "POST" and form.is_valid():
        values: dict[str, Any] = form.values()
        values.pop("cluster")
        with judged(form):
            departments.update_department(department, by=request.user, **values)
            messages.success(request, f"{department} is saved.")
            if warning := overbooked_now(department):  # the list that follows has no room for it
                messages.warning(request, warning)
            return done(request, reverse("department-list"))
    return _form(request, form, f"Edit {form.initial['name']}", "Save changes", warning)


@form_methods
@administrators_only
def delete(request: Request, pk: int) -> HttpResponse:
    department = get_object_or_404(Department, pk=pk)
    refusal = departments.obstacle_to_delete(department)
    if request.method == "POST":
        try:
            departments.delete_department(department, by=request.user)
        except departments.HasProjects as error:
            refusal = str(error)
        else:
            messages.success(request, f"The department {department} is deleted.")
            return done(request, reverse("department-list"))
    return question_page(
        request,
        title=f"Delete {department}?",
        text="Its environments, compute resources and templates go with it.",
        submit="Delete department",
        crumb=("Departments", reverse("department-list")),
        refusal=refusal,
    )


def _form(
    request: Request, form: DepartmentForm, title: str, submit: str, warning: str = ""
) -> HttpResponse:
    return form_page(
        request,
        form,
        title=title,
        submit=submit,
        fields="projects/department_fields.html",
        crumb=("Departments", reverse("department-list")),
        warning=warning,
    )
