"""Answer with a page of the wizard: all of it, or the parts that changed."""

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
    whole: bool = False,
) -> HttpResponse:
    """Render a page of the wizard: all of it, or for htmx the part it asked for and everything that
    depends on it.

    ``planned`` is the plan of the draft, if there is one already. ``focus`` is ``problem`` for the
    first invalid field, or the name of a list whose rows changed. ``overtaken``: the draft does not
    contain what was posted. ``whole``: htmx gets all fields, whatever it asked for.
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
    if whole:
        template = f"{FOLDER}/_fragment_page.html"
        more = _galleries_context(request, screen)
    else:
        template, more = _changed_part(request, screen, focus)
    return render(request, template, context | more | {"oob": True}, status=status)


def nav_route(content: WorkloadDraft) -> str:
    """URL name of the navigation entry to highlight while the draft is edited."""
    return "template-list" if content.is_template else "workload-list"


def _changed_part(request: Request, screen: Screen, focus: str) -> tuple[str, Context]:
    """The template of the part that htmx replaces, and its additional context: the page's fields or
    one section, a gallery, a list, only the notes, or an output that was opened."""
    # An output was opened. The page keeps the version of the draft that it shows.
    if request.method == "GET":
        return f"{FOLDER}/_fragment_outputs.html", {}
    chosen = request.POST.get("gallery", "")
    target = request.htmx.target
    fold = next((it for it in screen.folds if it.key == target), None)
    lists = (it for it in screen.inputs if it.field.is_list)
    rows = next((it for it in lists if it.name in {focus, request.POST.get("again")}), None)
    if target == "wizard-page":
        return f"{FOLDER}/_fragment_page.html", _galleries_context(request, screen)
    if fold:
        return f"{FOLDER}/_fragment_fold.html", {"fold": replace(fold, has_focus=True)}
    if chosen in searchable_inputs(screen):
        more = gallery_context(request, screen, chosen) | {"live": True}
        return f"{FOLDER}/_fragment_gallery.html", more
    if rows:
        return f"{FOLDER}/_fragment_rows.html", {"shown": rows}
    return f"{FOLDER}/_live.html", {}


def _brings_command(request: Request, screen: Screen) -> bool:
    """Whether an asset was just chosen. It may have a command, so its fields are then shown."""
    return any(f"{screen.role}-{kind.slug}" in request.POST for kind in pod_kinds())


def searchable_inputs(screen: Screen) -> dict[str, ShownField]:
    """The inputs of the page that choose from a gallery that can be searched, by name."""
    cards = (it for it in screen.inputs if it.field.input is Input.CARDS)
    return {it.name: it for it in cards if it.field.key in KINDS or it.name == PROJECT}


def gallery_context(request: Request, screen: Screen, name: str) -> Context:
    """Context of ``_gallery.html`` for one of these inputs."""
    shown = searchable_inputs(screen)[name]
    kind = KINDS.get(shown.field.key)
    asked = request.GET if request.method == "GET" else request.POST
    everything = asked.get("all") == name or request.POST.get("action", "") == f"all:{name}"
    gallery = galleries.build_gallery(
        _asset_cards(request, screen, kind) if kind else _project_cards(request, screen),
        query=search_text(asked, f"{name}-search"),
        everything=everything,
        few=galleries.MOST_ON_SETUP if screen.page == SETUP else galleries.FEW_CARDS,
    )
    empty = NO_PROJECT if screen.content.cluster else NO_CLUSTER
    return {"shown": shown, "gallery": gallery, "redraws_page": screen.page == SETUP} | (
        {"kind": kind, "title": kind.title.lower(), "lead": _gallery_lead(screen, kind)}
        if kind
        else {"kind": None, "title": "projects", "empty": empty}
    )


def _project_cards(request: Request, screen: Screen) -> Iterable[galleries.Card]:
    content = screen.content
    return galleries.project_cards(request.user, content.cluster, content.project)


def _gallery_lead(screen: Screen, kind: AssetKind[Any]) -> str:
    cluster = screen.plan.cluster
    virtual = kind.counts_gpus and cluster and cluster.has_virtual_gpus
    return f"{kind.choice_lead} {VIRTUAL_GPUS}" if virtual else kind.choice_lead


def _galleries_context(request: Request, screen: Screen) -> Context:
    """Context with all galleries and cards of the page."""
    user = request.user
    content = screen.content
    planned = screen.plan
    if screen.page == SETUP:
        frameworks = list(
            galleries.framework_cards(_chosen_cluster(planned, user), content.framework)
        )
        return {
            "clusters": list(galleries.cluster_cards(user, content.cluster)),
            "projects": gallery_context(request, screen, PROJECT),
            "kinds": galleries.kind_cards(content),
            "frameworks": frameworks,
            "unavailable": [card for card in frameworks if card.why_not],
            "architectures": list(galleries.architecture_cards(content.architecture)),
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
    """The chosen cluster, even while no project is chosen yet."""
    chosen = planned.draft.cluster
    if planned.cluster or chosen is None:
        return planned.cluster
    return Cluster.objects.visible_to(user).filter(pk=chosen).first()


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
    return galleries.replica_asset_cards(kind, user, project, content, replica)


def drafts_context(request: Request) -> Context:
    """Context of ``workloads/wizard/_drafts.html``."""
    return {"drafts": drafts.unfinished_drafts(request.user)}
