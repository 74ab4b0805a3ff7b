"""The pages of projects: members see their own projects, administrators change all."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from accounts import access
from accounts.http import Request, permission_required
from clusters.models import Cluster
from core.forms.form import collect_errors
from core.web.http import render_partial
from core.web.pages import (
    deletion_page,
    form_page,
    is_in_drawer,
    respond_after_change,
    respond_with_created,
    return_address,
)
from core.web.query import search_text
from projects import services
from projects.forms import ProjectForm, blank_project_values, initial_project_values
from projects.lending import PoolBars, enforcement_sentence, over_quota_text, pool_bars
from projects.members import member_names
from projects.meters import meters
from projects.models import Department, Project
from projects.quotas import overbooked_warning, quota_of, total_quota, usage_of
from projects.rules import rule_facts
from spec.parts.scheduling import PriorityClass

PROJECTS_A_PAGE = 50
form_methods = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
@login_required
def listing(request: Request) -> HttpResponse:
    text = search_text(request.GET)
    projects = Project.objects.visible_to(request.user).for_list()
    if text:
        projects = projects.search(text)
    page = Paginator(projects, PROJECTS_A_PAGE).get_page(request.GET.get("page"))
    usage = usage_of(page)
    names = member_names(page)
    rows = [
        {
            "project": project,
            "meters": meters(total_quota(project), usage[project.pk].demand),
            "workloads": usage[project.pk].workloads,
            "members": len(names[project.pk]),
        }
        for project in page
    ]
    has_virtual_gpus = any(
        cluster.has_virtual_gpus for cluster in Cluster.objects.visible_to(request.user)
    )
    context = {"page": page, "rows": rows, "q": text, "has_virtual_gpus": has_virtual_gpus}
    return render_partial(request, "projects/projects.html", "rows", context)


@require_safe
@login_required
def detail(request: Request, pk: int) -> HttpResponse:
    visible = Project.objects.visible_to(request.user).for_list()
    project = get_object_or_404(visible, pk=pk)
    pools = _pool_bars(project)
    workloads = project.workloads.visible_to(request.user).order_by("-created_at")
    context = {
        "project": project,
        "pools": pools,
        "enforcement": enforcement_sentence(project.cluster),
        "facts": (
            ("Cluster", project.cluster.name),
            ("Department", project.department.name),
            *_default_pool(project, pools),
            ("Default node pools", ", ".join(project.default_node_pools) or "None: any node"),
            *_default_queue(project),
            *_cluster_limits(project),
        ),
        "rules": rule_facts(project),
        "members": project.members,
        "workloads": workloads[:10],
        "warning": current_quota_warning(project.department),
        "has_virtual_gpus": project.cluster.has_virtual_gpus,
        "in_drawer": is_in_drawer(request),
    }
    return render_partial(request, "projects/project.html", "detail", context)


def _default_pool(project: Project, pools: list[PoolBars]) -> list[tuple[str, str]]:
    """Return what is beyond the quota of the only node pool; several say it at their bars."""
    if len(pools) > 1:
        return []
    return [
        ("Over-quota", over_quota_text(project)),
        ("Rank", PriorityClass(project.rank).label),
    ]


def _pool_bars(project: Project) -> list[PoolBars]:
    neighbors = list(
        Project.objects.filter(cluster=project.cluster).prefetch_related("pool_quotas")
    )
    usage = usage_of(neighbors)
    return pool_bars(
        project,
        lambda pool: {it.pk: (quota_of(it, pool), usage[it.pk].in_pool(pool)) for it in neighbors},
    )


def _default_queue(project: Project) -> list[tuple[str, str]]:
    """Return the default queue, where the cluster has queues or the project names one."""
    if not (project.default_queue or project.cluster.capabilities.kueue):
        return []
    return [("Default queue", project.default_queue or "None")]


def _cluster_limits(project: Project) -> list[tuple[str, str]]:
    """Return the limits that the cluster itself sets for the project, besides its quota."""
    kind = project.cluster.definition
    limits = kind.project_limits(project.cluster, project.name)
    return [(f"Limits of {kind.label}", limits)] if limits else []


@form_methods
@permission_required("projects.create")
def create(request: Request) -> HttpResponse:
    """Create a project. The query may have ``cluster``, ``next``, and ``slot``: the input that the
    new project is for."""
    posted = request.POST if request.method == "POST" else None
    form = ProjectForm(
        posted,
        by=request.user,
        initial=blank_project_values(request.user) | {"cluster": request.GET.get("cluster", "")},
    )
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            project = services.create_project(
                by=request.user, cluster=form.cluster, **form.service_values()
            )
            messages.success(request, f"The project {project} was created.")
            address = project.get_absolute_url()
            return respond_with_created(
                request, "project", project.pk, address, cluster=str(project.cluster_id)
            )
    return _form(request, form, "New project", "Create project")


@form_methods
@permission_required("projects.update")
def edit(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project.objects.visible_to(request.user).for_list(), pk=pk)
    access.require(request.user, "projects.update", *project.scope_keys)
    posted = request.POST if request.method == "POST" else None
    fixed = ("cluster",)  # its workloads and assets are there
    form = ProjectForm(
        posted, by=request.user, initial=initial_project_values(project), fixed=fixed
    )
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            services.update_project(project, by=request.user, **form.service_values())
            messages.success(request, f"{project} was saved.")
            return respond_after_change(request, project.get_absolute_url())
    return _form(
        request,
        form,
        f"Edit {form.initial['name']}",
        "Save changes",
        warning=current_quota_warning(project.department),
        inherited=rule_facts(project.department),
    )


@form_methods
@permission_required("projects.delete")
def delete(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project.objects.visible_to(request.user).for_list(), pk=pk)
    access.require(request.user, "projects.delete", *project.scope_keys)
    return deletion_page(
        request,
        project,
        "project",
        lambda: services.delete_project(project, by=request.user),
        text="Its assets, credentials among them, its webhooks and what is kept of its deleted "
        "workloads are deleted too. Members keep their accounts.",
        crumb=("Projects", reverse("project-list")),
        back=project.get_absolute_url(),
        obstacle=services.obstacle_to_delete(project, request.user),
    )


def current_quota_warning(department: Department) -> str:
    return overbooked_warning(department, department.projects.all())


def _form(
    request: Request, form: ProjectForm, title: str, submit: str, **context: Any
) -> HttpResponse:
    return form_page(
        request,
        form,
        title=title,
        submit=submit,
        fields="projects/fields.html",
        crumb=("Projects", reverse("project-list")),
        back=return_address(request),
        **context,
    )
