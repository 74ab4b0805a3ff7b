"""The pages on which administrators add, change and delete clusters, and test connections."""

from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import Request, permission_required
from clusters import connection_tests, services
from clusters.kinds import addable, addable_kind
from clusters.kinds.base import ClusterKind
from clusters.kinds.form import ConnectionForm
from clusters.models import Cluster, ConnectionTest
from clusters.views.findings import test_context
from core.forms.form import collect_errors
from core.web.http import render_partial
from core.web.pages import deletion_page
from core.web.query import parse_uuid

form_methods = require_http_methods(["GET", "HEAD", "POST"])


@form_methods
@permission_required("clusters.create")
def create(request: Request) -> HttpResponse:
    """Add a cluster. ``kind`` in the form or the address is the kind of cluster."""
    data = request.POST if request.method == "POST" else request.GET
    kind = addable_kind(data.get("kind", ""))
    if kind is None:
        raise Http404("Unknown cluster type")
    form = _connection_form(request, kind, None)
    if request.method == "POST" and form.is_valid():
        if request.POST.get("action") == "test":
            return _test_and_return(request, form, None)
        with collect_errors(form):
            cluster = services.create(
                kind,
                by=request.user,
                name=form.text("name"),
                settings=form.settings(),
                secret=form.secret() or kind.secret(),
            )
            _delete_test(form)
            messages.success(request, f"{cluster} was added. Trainyard is connecting to it.")
            return redirect(cluster)
    elif request.method == "POST":
        _add_other_errors(request, form, Cluster(kind=kind.slug))
    return _cluster_page(request, form, "New cluster", "Create cluster")


@form_methods
@permission_required("clusters.update")
def edit(request: Request, pk: UUID) -> HttpResponse:
    cluster = get_object_or_404(Cluster, pk=pk)
    if cluster.definition.form is None:
        raise Http404("It has nothing to change")
    form = _connection_form(request, cluster.definition, cluster)
    if request.method == "POST" and form.is_valid():
        if request.POST.get("action") == "test":
            return _test_and_return(request, form, cluster)
        with collect_errors(form):
            services.update(
                cluster,
                by=request.user,
                name=form.text("name"),
                settings=form.settings(),
                secret=form.secret(),
            )
            _delete_test(form)
            messages.success(request, f"{cluster} was saved.")
            return redirect(cluster)
    elif request.method == "POST":
        _add_other_errors(request, form, cluster)
    return _cluster_page(request, form, f"Edit {form.initial['name']}", "Save changes", cluster)


@form_methods
@permission_required("clusters.delete")
def delete(request: Request, pk: UUID) -> HttpResponse:
    cluster = get_object_or_404(Cluster, pk=pk)
    return deletion_page(
        request,
        cluster,
        "cluster",
        lambda: services.delete_cluster(cluster, by=request.user),
        text="It is removed from Trainyard with its node pools, departments, assets (credentials "
        "among them) and webhooks. Nothing is deleted on the cluster itself.",
        crumb=("Clusters", reverse("cluster-list")),
        back=cluster.get_absolute_url(),
        obstacle=services.obstacle_to_delete(cluster, request.user),
    )


@require_POST
@permission_required("clusters.update")
def test(request: Request, pk: UUID) -> HttpResponse:
    """Test the saved connection of a cluster."""
    cluster = get_object_or_404(Cluster, pk=pk)
    connection_test = connection_tests.request_test(by=request.user, cluster=cluster)
    if request.htmx:
        return render(request, "clusters/test.html#test", test_context(connection_test))
    return redirect("cluster-test-result", connection_test.pk)


@require_safe
@permission_required("clusters.update")
def result(request: Request, pk: UUID) -> HttpResponse:
    """Show the result of a test. While it waits for a worker, the page polls this address."""
    tests = ConnectionTest.objects.filter(asked_by=request.user).defer("secret_json")
    connection_test = get_object_or_404(tests.select_related("cluster"), pk=pk)
    return render_partial(request, "clusters/test.html", "test", test_context(connection_test))


def _connection_form(
    request: Request, kind: ClusterKind, cluster: Cluster | None
) -> ConnectionForm:
    form_class = kind.form
    assert form_class is not None  # noqa: S101 -- the callers have checked it
    values = request.POST if request.method == "POST" else request.GET
    asked = parse_uuid(values.get("tested" if request.method == "POST" else "test", ""))
    own = ConnectionTest.objects.filter(asked_by=request.user, cluster=cluster, kind=kind.slug)
    tested = own.filter(pk=asked).first() if asked else None
    initial = form_class.initial_values(cluster) if cluster else form_class.blank_values(kind)
    if tested:
        initial |= tested.values_json
    posted = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    return form_class(kind, initial, *posted, test=tested, editing=cluster is not None)


def _test_and_return(
    request: Request, form: ConnectionForm, cluster: Cluster | None
) -> HttpResponse:
    """Start a test, and go back to the form with the result and all values except the secret."""
    secret = form.secret()
    _delete_test(form)
    connection_test = connection_tests.request_test(
        by=request.user,
        cluster=cluster,
        kind=form.kind,
        secret=secret,
        settings=form.settings(),
        values=form.values_to_restore(),
    )
    query: dict[str, object] = {} if cluster else {"kind": form.kind.slug}
    query["test"] = connection_test.pk
    return redirect(f"{request.path}?{urlencode(query)}#test")


def _add_other_errors(request: Request, form: ConnectionForm, cluster: Cluster) -> None:
    """Add the errors of the name and the settings to a form whose secret is wrong."""
    if request.POST.get("action") != "test":
        with collect_errors(form):
            services.set_and_validate(cluster, name=form.text("name"), settings=form.settings())


def _delete_test(form: ConnectionForm) -> None:
    if form.test:
        form.test.delete()


def _cluster_page(
    request: Request, form: ConnectionForm, title: str, submit: str, cluster: Cluster | None = None
) -> HttpResponse:
    secret = form.posted_secret() if request.method == "POST" else None
    if secret and not (form.test and form.test.secret == secret):
        form.test = connection_tests.store_secret(
            by=request.user, cluster=cluster, kind=form.kind, secret=secret
        )
    has_result = form.test and (form.test.findings_json or not form.test.answered_at)
    context = {"form": form, "title": title, "submit": submit, "kinds": addable()}
    context |= test_context(form.test) if form.test and has_result else {}
    status = 422 if request.method == "POST" else 200
    return render(request, "clusters/form.html", context, status=status)
