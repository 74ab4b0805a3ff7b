"""Changing node pools: for administrators."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from accounts.http import Request, administrators_only
from clusters.forms import NodePoolForm
from clusters.models import Cluster, NodePool
from clusters.pools import InUse, create_pool, delete_pool, obstacle_to_delete, update_pool
from core.forms import judged
from core.pages import done, form_page, question_page

form_methods = require_http_methods(["GET", "HEAD", "POST"])


@form_methods
@administrators_only
def create(request: Request, pk: UUID) -> HttpResponse:
    cluster = get_object_or_404(Cluster, pk=pk)
    form = NodePoolForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with judged(form):
            pool = create_pool(cluster, by=request.user, **form.cleaned_data)
            messages.success(request, f"The node pool {pool} is created.")
            return done(request, address_of(cluster))
    return _page(request, form, cluster, "New node pool", "Create node pool")


@form_methods
@administrators_only
def edit(request: Request, pk: UUID, pool: int) -> HttpResponse:
    found = get_object_or_404(NodePool.objects.select_related("cluster"), pk=pool, cluster=pk)
    first: dict[str, Any] = {
        name: getattr(found, name) for name in ("name", "label_key", "label_value")
    }
    form = NodePoolForm(request.POST if request.method == "POST" else None, initial=first)
    form.fields["name"].disabled = True  # workloads know the pool by it
    if request.method == "POST" and form.is_valid():
        values = {**form.cleaned_data}
        values.pop("name")
        with judged(form):
            update_pool(found, by=request.user, **values)
            messages.success(request, f"{found} is saved.")
            return done(request, address_of(found.cluster))
    return _page(request, form, found.cluster, f"Edit {first['name']}", "Save changes")


@form_methods
@administrators_only
def delete(request: Request, pk: UUID, pool: int) -> HttpResponse:
    found = get_object_or_404(NodePool.objects.select_related("cluster"), pk=pool, cluster=pk)
    refusal = obstacle_to_delete(found)
    if request.method == "POST":
        try:
            delete_pool(found, by=request.user)
        except InUse as error:
            refusal = str(error)
        else:
            messages.success(request, f"The node pool {found} is deleted.")
            return done(request, address_of(found.cluster))
    return question_page(
        request,
        title=f"Delete {found}?",
        text="Its nodes go to the default pool. Nothing changes on the nodes.",
        submit="Delete node pool",
        crumb=(found.cluster.name, found.cluster.get_absolute_url()),
        back=address_of(found.cluster),
        refusal=refusal,
    )


def address_of(cluster: Cluster) -> str:
    return reverse("cluster-pools", args=[cluster.pk])


def _page(
    request: Request, form: NodePoolForm, cluster: Cluster, title: str, submit: str
) -> HttpResponse:
    return form_page(
        request,
        form,
        title=title,
        submit=submit,
        fields="components/fields.html",
        crumb=(cluster.name, cluster.get_absolute_url()),
        back=address_of(cluster),
    )
