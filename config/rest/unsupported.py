"""Answer 501 and a reason for calls that Run:ai's API has and Trainyard does not, because 404 would
look like a mistake in the URL. docs/api.md lists the operations of NVIDIA's client by the same
reasons."""

import re

#: Reasons and the paths below ``/api/`` to which they apply, with everything below them. ``*``
#: stands for one step of a path.
UNSUPPORTED: dict[str, tuple[str, ...]] = {
    "Trainyard runs trainings and workspaces, and no inference.": (
        "v1/workloads/inferences",
        "v1/workloads/distributed-inferences",
        "v1/workload-templates/inferences",
        "v1/workload-templates/distributed-inferences",
        "v1/policy/inferences",
        "v1/policy/distributed-inferences",
        "v2/policy/inferences",
        "v2/policy/distributed-inferences",
        "v2/workloads/nim-services",
        "v2/policy/nim-services",
    ),
    "Sign-in is set up by the environment.": ("v1/idps/*",),
    "Nothing is installed in a cluster, so there is nothing to download for it.": (
        "v1/clusters/*/cluster-install-info",
        "v1/k8s",
    ),
    "The command line is a Python distribution: pip install ./trainyard_cli": ("v1/cli-exposer",),
    "A workload is one job, and not an application of several.": ("v1/ai-applications",),
    "Images and data come by name and credential, not from a catalog.": (
        "v1/asset/registries",
        "v1/datavolumes",
    ),
    "The history of a claim in its cluster is not recorded; its workloads have events about it.": (
        "v1/asset/datasource/pvc/*/history",
    ),
    "Storage classes and topologies are the cluster's own, and are set up there.": (
        "v1/storage-class-configuration",
        "v1/network-topologies",
    ),
    "Only Slack itself creates apps. Create an incoming webhook there, and enter its address.": (
        "v1/notification-channels/slack/create-app",
    ),
    "There are no reports; the list of workloads can be exported.": ("v1/org-unit/reports",),
}


def _pattern(path: str) -> str:
    steps = ("[^/]+" if step == "*" else re.escape(step) for step in path.split("/"))
    return "/".join(steps) + "(/.*)?"


_PATTERNS = [
    (re.compile(_pattern(path)), why) for why, paths in UNSUPPORTED.items() for path in paths
]


def find_reason(path: str) -> str:
    """The reason for a path below ``/api/``; empty if Run:ai does not have it either."""
    return next((why for pattern, why in _PATTERNS if pattern.fullmatch(path)), "")
