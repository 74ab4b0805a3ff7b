"""A page of the wizard as an answer: whole, or the parts of it that changed."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from accounts.http import Request
from accounts.models import User
from clusters.models import Cluster
from core.query import search_text
from workloads import drafts, galleries, review, summary
from workloads.forms.kinds import LISTS, MASTER, SETUP
from workloads.forms.screen import Screen
from workloads.galleries import Gallery
from workloads.models import Draft
from workloads.plan import Plan, plan

FOLDER = "workloads/wizard"
PAGE = f"{FOLDER}/page.html"
Context = dict[str, Any]


def answer(
    request: Request, draft: Draft, page: int, *, status: int = 200, focus: str = ""
) -> HttpResponse:
    """The whole page; for htmx what it asked to swap, and with it all that follows from it.

    ``focus``: ``problem`` for the first bad field, or the name of a list whose rows changed.
    """
    made = plan(draft.content, by=request.user)
    screen = Screen(draft, made, page, focus=focus == "problem")
    context = {"screen": screen, "summary": summary.of(made), "draft": draft, "focus": focus}
    if page == MASTER:
        context["review"] = review.of(screen)
    if not request.htmx or request.htmx.boosted:
        return render(request, PAGE, context | _galleries(request, screen), status=status)
    template, more = _part(request, screen, focus)
    return render(request, template, context | more | {"oob": True}, status=status)


def _part(request: Request, screen: Screen, focus: str) -> tuple[str, Context]:
    """What htmx swaps: the page's fields, a gallery with a new asset, a list, or only notes."""
    chosen = request.POST.get("gallery", "")
    rows = next((it for it in screen.all if it.name == focus and it.field.kind in LISTS), None)
    if request.htmx.target == "wizard-page":
        return f"{FOLDER}/_fragment_page.html", _galleries(request, screen)
    if chosen in galleries_of(screen):
        more = one_gallery(request, screen, chosen) | {"live": True}
        return f"{FOLDER}/_fragment_gallery.html", more
    if rows:
        return f"{FOLDER}/_fragment_rows.html", {"shown": rows}
    return f"{FOLDER}/_live.html", {}


def galleries_of(screen: Screen) -> set[str]:
    """Names of the fields that are chosen from a gallery."""
    if screen.page == SETUP:
        return {"template"}
    return {f"{screen.role}-{key}" for key in ("environment", "compute") if screen.replica}


def one_gallery(request: Request, screen: Screen, name: str) -> Context:
    """One gallery by the name of its field."""
    key = name.rpartition("-")[2]
    shown = screen.fields.get(name) or screen.replica.get(key)
    return {"gallery": _gallery(request, screen, key), "shown": shown}


def _galleries(request: Request, screen: Screen) -> Context:
    """What the page offers to choose from."""
    user, content, made = request.user, screen.content, screen.plan
    if screen.page == SETUP:
        return {
            "clusters": list(galleries.clusters(user, content.cluster)),
            "projects": list(galleries.projects(user, content.cluster, content.project)),
            "frameworks": list(galleries.frameworks(_cluster(made, user), content.framework)),
            "architectures": list(galleries.architectures(content.architecture)),
            "templates": _gallery(request, screen, "template"),
        }
    if screen.page == MASTER and content.master is None:
        return {}
    return {
        "environments": _gallery(request, screen, "environment"),
        "computes": _gallery(request, screen, "compute"),
    }


def _cluster(made: Plan, user: User) -> Cluster | None:
    """The chosen cluster, also before a project is."""
    chosen = made.draft.cluster
    if made.cluster or chosen is None:
        return made.cluster
    return Cluster.objects.visible_to(user).filter(pk=chosen).first()


def _gallery(request: Request, screen: Screen, key: str) -> Gallery:
    asked = request.GET if request.method == "GET" else request.POST
    name = screen.role + "-" + key if key != "template" else key
    action = request.POST.get("action", "")
    return galleries.gallery(
        _cards(request, screen, key),
        query=search_text(asked, f"{name}-search"),
        everything=asked.get("all") == name or action == f"all:{name}",
    )


def _cards(request: Request, screen: Screen, key: str) -> list[galleries.Card]:
    user, content, project = request.user, screen.content, screen.plan.project
    if key == "template":
        return list(galleries.templates(user, project, content.template))
    replica = content.master if screen.page == MASTER else content.worker
    if project is None or replica is None:
        return []
    if key == "environment":
        return galleries.environments(user, project, content.framework, replica)
    return galleries.compute_resources(user, project, replica)


def drafts_context(request: Request) -> Context:
    """For ``workloads/wizard/_drafts.html``."""
    return {"drafts": drafts.unfinished(request.user)}
