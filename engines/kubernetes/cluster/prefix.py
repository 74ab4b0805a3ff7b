"""Tell who uses a namespace prefix on a cluster, which is for one Trainyard alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from engines.base import EngineRefused
from engines.findings import EXCLUDED
from engines.kubernetes.client.api import Api
from engines.kubernetes.labels import INSTALLATION, PROJECT, is_marked_by_another
from engines.kubernetes.names import project_namespace
from engines.kubernetes.objects import NAMESPACES

MOST_NAMES = 3  # namespaces in one sentence


@dataclass(frozen=True)
class PrefixUse:
    """Who has namespaces of projects with this ``prefix``. ``is_ours``: we do, or nobody marked
    some of them, which then may be ours from before there were marks. ``others``: namespaces by
    the mark of the other Trainyard."""

    prefix: str
    is_ours: bool
    others: Mapping[str, list[str]]

    @property
    def names(self) -> list[str]:
        """All namespaces of others."""
        return [name for names in self.others.values() for name in names]

    @property
    def refusal(self) -> str:
        """Why this Trainyard must not use the prefix, and what to do; empty if it may, because it
        did before or nobody else does."""
        if self.is_ours or not self.others:
            return ""
        names = self.names
        marks = ", ".join(self.others)
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        released = f"-l '{INSTALLATION} in ({marks})' {INSTALLATION}-"
        who = "another Trainyard" if len(self.others) == 1 else "other Trainyards"
        return (
            f"The namespace prefix {self.prefix} is in use on this cluster by {who}, known there "
            f"by the mark {marks}: {', '.join(names[:MOST_NAMES])}{more}. An administrator can "
            "choose another prefix for the connection. If that Trainyard no longer exists, release "
            f'its namespaces by "kubectl label namespace {released}", with KAI also its queues by '
            f'"kubectl label queues.scheduling.run.ai {released}", and test the connection again.'
        )


def prefix_use(api: Api, prefix: str, installation: str) -> PrefixUse:
    """Look at the namespaces. ``EngineRefused`` if we may not list them."""
    is_ours = False
    others = dict[str, list[str]]()
    for space in api.all_items(NAMESPACES, labelSelector=PROJECT):
        name = space["metadata"]["name"]
        labels = space["metadata"]["labels"]
        if name != project_namespace(labels[PROJECT], prefix):
            continue
        if is_marked_by_another(space, installation):
            others.setdefault(labels[INSTALLATION], []).append(name)
        else:
            is_ours = True
    return PrefixUse(prefix, is_ours, others)


class PrefixGuard:
    """Checks before a project's first workload, and before any queue, that the prefix is ours to
    use. Once we have namespaces there, it is."""

    def __init__(self, api: Api, prefix: str, installation: str) -> None:
        self._api = api
        self._prefix = prefix
        self._installation = installation
        self._is_ours = not installation

    def check(self) -> None:
        """``EngineRefused`` if only another Trainyard uses the prefix."""
        if self._is_ours:
            return
        try:
            use = prefix_use(self._api, self._prefix, self._installation)
        except EngineRefused:
            return  # the right to list namespaces is optional
        if use.refusal:
            raise EngineRefused(f"The cluster {EXCLUDED}")
        self._is_ours = use.is_ours
