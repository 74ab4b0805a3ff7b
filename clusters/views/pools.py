"""The pages on which administrators change node pools."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from accounts.http import Request, permission_required
from clusters.models import Cluster, NodePool
from clusters.nodes.pools import create_pool, delete_pool, obstacle_to_delete, update_pool
from core.forms.field import Field, Values
from core.forms.form import Form, collect_errors
from core.web.pages import deletion_page, form_page, respond_after_change

FIELDS = (
    Field("name", "Node pool name", required=True),
    Field("label_key", "Label key", required=True, literal=True),
    Field(
        "label_value",
        "Label value",
        hint="All nodes with exactly this label are in the pool.",
        literal=True,
    ),
)


class NodePoolForm(Form):
    def __init__(
        self, posted: QueryDict | None, *, initial: Values, fixed: Collection[str] = ()
    ) -> None:
        super().__init__(FIELDS, initial, posted, fixed=fixed)

    def submitted_values(self) -> dict[str, str]:
        """Return the values for the services, without fixed ones."""
        names = [shown.name for shown in self if not shown.disabled]
        return {name: str(self.values.get(name, "")) for name in names}


form_methods = require_http_methods(["GET", "HEAD", "POST"])


@form_methods
@permission_required("nodepools.create")
def create(request: Request, pk: UUID) -> HttpResponse:
    cluster = get_object_or_404(Cluster, pk=pk)
    form = NodePoolForm(request.POST if request.method == "POST" else None, initial={})
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            pool = create_pool(cluster, by=request.user, **form.submitted_values())
            messages.success(request, f"The node pool {pool} was created.")
            return respond_after_change(request, pools_url(cluster))
    return _pool_page(request, form, cluster, "New node pool", "Create node pool")


@form_methods
@permission_required("nodepools.update")
def edit(request: Request, pk: UUID, pool: int) -> HttpResponse:
    row = get_object_or_404(NodePool.objects.select_related("cluster"), pk=pool, cluster=pk)
    initial: dict[str, Any] = {
        name: getattr(row, name) for name in ("name", "label_key", "label_value")
    }
    posted = request.POST if request.method == "POST" else None
    form = NodePoolForm(posted, initial=initial, fixed=("name",))  # workloads refer to it
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            update_pool(row, by=request.user, **form.submitted_values())
            messages.success(request, f"{row} was saved.")
            return respond_after_change(request, pools_url(row.cluster))
    return _pool_page(request, form, row.cluster, f"Edit {initial['name']}", "Save changes")


@form_methods
@permission_required("nodepools.delete")
def delete(request: Request, pk: UUID, pool: int) -> HttpResponse:
    row = get_object_or_404(NodePool.objects.select_related("cluster"), pk=pool, cluster=pk)
    home = pools_url(row.cluster)
    return deletion_page(
        request,
        row,
        "node pool",
        lambda: delete_pool(row, by=request.user),
        text="Its nodes move to the default pool, and the quotas in it are deleted. Nothing "
        "changes on the nodes themselves.",
        crumb=(row.cluster.name, row.cluster.get_absolute_url()),
        back=home,
        home=home,
        obstacle=obstacle_to_delete(row, request.user),
    )


def pools_url(cluster: Cluster) -> str:
    return reverse("cluster-pools", args=[cluster.pk])


def _pool_page(
    request: Request, form: NodePoolForm, cluster: Cluster, title: str, submit: str
) -> HttpResponse:
    return form_page(
        request,
        form,
        title=title,
        submit=submit,
        fields="components/inputs.html",
        crumb=(cluster.name, cluster.get_absolute_url()),
        back=pools_url(cluster),
    )
