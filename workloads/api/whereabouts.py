"""Where workloads run, and where their tools are opened."""

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from spec.tools import external_links
from workloads.models import Rank, Workload
from workloads.tools.access import tools_of_workload


def read_nodes(workloads: Iterable[Workload]) -> dict[UUID, list[str]]:
    """Return the nodes of each of these workloads, in alphabetical order, with one query.

    They are those of the last attempt, and stay known after its end.
    """
    nodes: defaultdict[UUID, list[str]] = defaultdict(list)
    ranks = Rank.objects.filter(workload__in=[it.pk for it in workloads]).exclude(node="")
    pairs = ranks.order_by("node").values_list("workload_id", "node").distinct()
    for workload_id, node in pairs:
        nodes[workload_id].append(node)
    return nodes


def service_urls(workload: Workload, request: HttpRequest) -> list[str]:
    """Return the addresses at which people open the tools of a workload, and its external pages.

    Those of its own tools are pages of Trainyard, which sign in and lead on to the tool.
    """
    if not workload.has_tools or workload.spec_fault:
        return []
    paths = [
        reverse("tool-open", args=[workload.pk, tool.slug]) for tool in tools_of_workload(workload)
    ]
    links = [link.url for link in external_links(workload.spec)]
    return [*(_absolute_url(path, request) for path in paths), *links]


def _absolute_url(path: str, request: HttpRequest) -> str:
    if settings.PUBLIC_URL:
        return f"{settings.PUBLIC_URL}{path}"
    return request.build_absolute_uri(path)
