"""Render a page of the wizard: all of it, or the parts that changed."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from accounts.http import Request
from accounts.models import User
from assets.base import AssetKind, Panel
from assets.kinds import KINDS, pod_kinds
from clusters.models import Cluster
from core.forms.field import Input
from core.forms.shown import ShownField
from core.web.query import search_text
from spec.draft import WorkloadDraft
from workloads.models import Draft
from workloads.plan import Plan, plan
from workloads.wizard import drafts, repairs
from workloads.wizard.choices import galleries
from workloads.wizard.pages import review, summary
from workloads.wizard.pages.outputs import SUBMISSION, Outputs
from workloads.wizard.pages.screen import Screen, build_screen
from workloads.wizard.sections.base import MASTER, SETUP

FOLDER = "workloads/wizard"
PAGE = f"{FOLDER}/page.html"
PROJECT = "project"
NO_CLUSTER = "Select a cluster first. Your projects on it appear here."
NO_PROJECT = "You have no projects on this cluster yet."
VIRTUAL_GPUS = "GPUs here are virtual: accounting units that run on the CPU."
Context = dict[str, Any]


def render_page(
    request: Request,
    draft: Draft,
    page: int,
    *,
    planned: Plan | None = None,
    status: int = 200,
    focus: str = "",
    overtaken: bool = False,
    all_fields: bool = False,
) -> HttpResponse:
    """Render a page of the wizard: all of it, or for htmx the part it asked for and everything that
    depends on it.

    ``planned`` is the plan of the draft, if there is one already. ``focus`` is ``problem`` for the
    first invalid field, or the name of a list whose rows changed. ``overtaken`` means that the
    draft does not contain what was posted. With ``all_fields`` htmx gets all fields of the page,
    even if it requested less.
    """
    planned = planned or plan(draft.content, by=request.user)
    screen = build_screen(draft, planned, page, focus=focus)
    forecast = summary.summarize(planned)
    context = {"screen": screen, "summary": forecast, "draft": draft, "focus": focus}
    context["outputs"] = Outputs(planned, request.build_absolute_uri(SUBMISSION))
    context["shows"] = (request.GET if request.method == "GET" else request.POST).getlist("shows")
    if not planned.draft.is_template:
        forecast.repairs = repairs.offer_repairs(planned, request.user)
    context["overtaken"] = overtaken
    context["brings_command"] = _brings_command(request, screen)
    context["nav_route"] = nav_route(planned.draft)
    if page == MASTER:
        context["review"] = review.review_pages(screen)
    if not request.htmx or request.htmx.boosted:
        return render(request, PAGE, context | _galleries_context(request, screen), status=status)
    if all_fields:
        template = f"{FOLDER}/_fragment_page.html"
        more = _galleries_context(request, screen)
    else:
        template, more = _changed_part(request, screen, focus)
    return render(request, template, context | more | {"oob": True}, status=status)


def nav_route(content: WorkloadDraft) -> str:
    """Return the URL name of the navigation entry to highlight while the draft is edited."""
    return "template-list" if content.is_template else "workload-list"


def _changed_part(request: Request, screen: Screen, focus: str) -> tuple[str, Context]:
    """Return the template of the part that htmx replaces, and its additional context. The part is
    the page's fields or one section, a gallery, a list, only the notes, or an opened output."""
    if request.method == "GET":
        # An output was opened. The page keeps the version of the draft that it shows.
        return f"{FOLDER}/_fragment_outputs.html", {}
    target = request.htmx.target
    if target == "wizard-page":
        return f"{FOLDER}/_fragment_page.html", _galleries_context(request, screen)
    fold = next((fold for fold in screen.folds if fold.key == target), None)
    if fold:
        return f"{FOLDER}/_fragment_fold.html", {"fold": replace(fold, has_focus=True)}
    gallery_name = request.POST.get("gallery", "")
    if gallery_name in searchable_inputs(screen):
        more = gallery_context(request, screen, gallery_name) | {"live": True}
        return f"{FOLDER}/_fragment_gallery.html", more
    names = {focus, request.POST.get("again")}
    for shown in screen.inputs:
        if shown.field.is_list and shown.name in names:
            return f"{FOLDER}/_fragment_rows.html", {"shown": shown}
    return f"{FOLDER}/_live.html", {}


def _brings_command(request: Request, screen: Screen) -> bool:
    """Return whether an asset was just chosen. It may have a command, so the fields for command and
    arguments are then shown."""
    return any(f"{screen.role}-{kind.slug}" in request.POST for kind in pod_kinds())


def searchable_inputs(screen: Screen) -> dict[str, ShownField]:
    """Return, by name, the inputs of the page that have a gallery with a search."""
    return {
        shown.name: shown
        for shown in screen.inputs
        if shown.field.input is Input.CARDS and (shown.field.key in KINDS or shown.name == PROJECT)
    }


def gallery_context(request: Request, screen: Screen, name: str) -> Context:
    """Return the context of ``_gallery.html`` for one of the inputs with a search."""
    shown = searchable_inputs(screen)[name]
    kind = KINDS.get(shown.field.key)
    sent = request.GET if request.method == "GET" else request.POST
    everything = sent.get("all") == name or request.POST.get("action", "") == f"all:{name}"
    gallery = galleries.build_gallery(
        _asset_cards(request, screen, kind) if kind else _project_cards(request, screen),
        query=search_text(sent, f"{name}-search"),
        everything=everything,
        few=galleries.MOST_ON_SETUP if screen.page == SETUP else galleries.FEW_CARDS,
    )
    context = {"shown": shown, "gallery": gallery, "redraws_page": screen.page == SETUP}
    if kind:
        lead = _gallery_lead(screen, kind)
        return context | {"kind": kind, "title": kind.title.lower(), "lead": lead}
    empty = NO_PROJECT if screen.content.cluster else NO_CLUSTER
    return context | {"kind": None, "title": "projects", "empty": empty}


def _project_cards(request: Request, screen: Screen) -> Iterable[galleries.Card]:
    content = screen.content
    return galleries.project_cards(request.user, content.cluster, content.project)


def _gallery_lead(screen: Screen, kind: AssetKind[Any]) -> str:
    cluster = screen.plan.cluster
    virtual = kind.counts_gpus and cluster and cluster.has_virtual_gpus
    return f"{kind.choice_lead} {VIRTUAL_GPUS}" if virtual else kind.choice_lead


def _galleries_context(request: Request, screen: Screen) -> Context:
    """Return the context with all galleries and cards of the page."""
    user = request.user
    content = screen.content
    planned = screen.plan
    if screen.page == SETUP:
        cluster = _chosen_cluster(planned, user)
        ruling = planned.policy_rulings.get("distributedFramework")
        frameworks = list(galleries.framework_cards(cluster, content.framework, ruling))
        architectures = galleries.architecture_cards(
            cluster, content.framework, content.architecture
        )
        return {
            "clusters": list(galleries.cluster_cards(user, content.cluster)),
            "projects": gallery_context(request, screen, PROJECT),
            "kinds": galleries.kind_cards(content),
            "frameworks": frameworks,
            "unavailable": [card for card in frameworks if card.why_not],
            "architectures": list(architectures),
        } | (
            {}
            if content.is_template
            else {"templates": gallery_context(request, screen, "template")}
        )
    if screen.page == MASTER and content.master is None:
        return {}
    panels: dict[str, list[Context]] = {panel: [] for panel in Panel}
    for name, shown in searchable_inputs(screen).items():
        panels[str(KINDS[shown.field.key].panel)].append(gallery_context(request, screen, name))
    return {"panels": panels}


def _chosen_cluster(planned: Plan, user: User) -> Cluster | None:
    """Return the chosen cluster, even while no project is chosen yet."""
    cluster_id = planned.draft.cluster
    if planned.cluster or cluster_id is None:
        return planned.cluster
    return Cluster.objects.visible_to(user).filter(pk=cluster_id).first()


def _asset_cards(
    request: Request, screen: Screen, kind: AssetKind[Any]
) -> Iterable[galleries.Card]:
    user = request.user
    content = screen.content
    project = screen.plan.project
    if not kind.is_chosen_per_pod:
        return galleries.template_cards(user, project, content)
    replica = content.replicas.get(screen.role)
    if project is None or replica is None:
        return []
    return galleries.replica_asset_cards(kind, screen.plan, project, replica, screen.role)


def drafts_context(request: Request) -> Context:
    """Return the context of ``workloads/wizard/_drafts.html``."""
    return {"drafts": drafts.unfinished_drafts(request.user)}
