"""Adding, changing and forgetting clusters, and testing their connection: for administrators."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import Request, administrators_only
from clusters import services, testing
from clusters.forms import ClusterForm, blank, initial
from clusters.models import Cluster, ConnectionTest, Kind
from clusters.views.findings import shown_test
from core.forms import judged
from core.http import render_partial
from core.pages import done, question_page
from core.query import uuid_of

form_methods = require_http_methods(["GET", "HEAD", "POST"])


@form_methods
@administrators_only
def create(request: Request) -> HttpResponse:
    form = _form(request, None)
    if request.method == "POST" and form.is_valid():
        if request.POST.get("action") == "test":
            return _test(request, form, None)
        with judged(form):
            cluster = services.create_kubernetes(
                by=request.user, kubeconfig=form.connection() or "", **form.values()
            )
            _forget(form)
            messages.success(request, f"{cluster} is added and is asked within seconds.")
            return redirect(cluster)
    return _page(request, form, "New cluster", "Create cluster")


@form_methods
@administrators_only
def edit(request: Request, pk: UUID) -> HttpResponse:
    cluster = get_object_or_404(Cluster, pk=pk, kind=Kind.KUBERNETES)
    form = _form(request, cluster)
    if request.method == "POST" and form.is_valid():
        if request.POST.get("action") == "test":
            return _test(request, form, cluster)
        with judged(form):
            services.update_kubernetes(
                cluster, by=request.user, kubeconfig=form.connection(), **form.values()
            )
            _forget(form)
            messages.success(request, f"{cluster} is saved.")
            return redirect(cluster)
    return _page(request, form, f"Edit {form.initial['name']}", "Save changes", cluster)


@form_methods
@administrators_only
def delete(request: Request, pk: UUID) -> HttpResponse:
    cluster = get_object_or_404(Cluster, pk=pk)
    refusal = services.obstacle_to_delete(cluster)
    if request.method == "POST":
        try:
            services.delete_cluster(cluster, by=request.user)
        except services.HasProjects as error:
            refusal = str(error)
        else:
            messages.success(request, f"The cluster {cluster} is forgotten.")
            return done(request, reverse("cluster-list"))
    return question_page(
        request,
        title=f"Delete {cluster}?",
        text="Trainyard forgets it with its node pools, departments, environments, compute "
        "resources and templates. Nothing is removed from the cluster.",
        submit="Delete cluster",
        crumb=("Clusters", reverse("cluster-list")),
        back=cluster.get_absolute_url(),
        refusal=refusal,
    )


@require_POST
@administrators_only
def test(request: Request, pk: UUID) -> HttpResponse:
    """Test connection, of a cluster as it is kept."""
    cluster = get_object_or_404(Cluster, pk=pk)
    asked = testing.ask(by=request.user, cluster=cluster)
    if request.htmx:
        return render(request, "clusters/test.html#test", shown_test(asked))
    return redirect("cluster-test-result", asked.pk)


@require_safe
@administrators_only
def result(request: Request, pk: UUID) -> HttpResponse:
    """What a test found; while it waits for the worker the piece fetches itself."""
    mine = ConnectionTest.objects.filter(asked_by=request.user).defer("kubeconfig")
    asked = get_object_or_404(mine.select_related("cluster"), pk=pk)
    return render_partial(request, "clusters/test.html", "test", shown_test(asked))


def _form(request: Request, cluster: Cluster | None) -> ClusterForm:
    values = request.POST if request.method == "POST" else request.GET
    name = "tested" if request.method == "POST" else "test"
    known = uuid_of(values.get(name, ""))
    mine = ConnectionTest.objects.filter(asked_by=request.user, cluster=cluster)
    tested = mine.filter(pk=known).first() if known else None
    first = initial(cluster) if cluster else blank()
    if tested:
        first |= {**tested.values_json, "tested": tested.pk}
    posted = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    return ClusterForm(*posted, initial=first, tested=tested, editing=cluster is not None)


def _test(request: Request, form: ClusterForm, cluster: Cluster | None) -> HttpResponse:
    """Back to the form, with everything that was typed but the kubeconfig, and the result."""
    data = form.cleaned_data
    kept = form.values() | {"way": data["way"], "trusted": data["trusted"]}
    _forget(form)
    asked = testing.ask(by=request.user, cluster=cluster, kubeconfig=form.connection(), values=kept)
    return redirect(f"{request.path}?test={asked.pk}#test")


def _forget(form: ClusterForm) -> None:
    if form.test:
        form.test.delete()


def _page(
    request: Request, form: ClusterForm, title: str, submit: str, cluster: Cluster | None = None
) -> HttpResponse:
    given = form.cleaned_data.get("kubeconfig") if request.method == "POST" else ""
    if given and not (form.test and form.test.kubeconfig == given):
        form.remember(testing.keep(by=request.user, cluster=cluster, kubeconfig=given))
    shown = form.test and (form.test.findings_json or not form.test.answered_at)
    context = {"form": form, "title": title, "submit": submit}
    context |= shown_test(form.test) if form.test and shown else {}
    status = 422 if request.method == "POST" else 200
    return render(request, "clusters/form.html", context, status=status)
