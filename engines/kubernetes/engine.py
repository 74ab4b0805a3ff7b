"""The Kubernetes engine: gangs as jobs of the Kubeflow training operator."""

import socket
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from uuid import UUID

from engines.base import (
    Capabilities,
    ClusterEvent,
    EngineRefused,
    EngineUnavailable,
    Finding,
    Handle,
    Launch,
    Manifest,
    Node,
    Observation,
    Usage,
)
from engines.kubernetes import belongings, checking, discovery, fields, outside, queues
from engines.kubernetes.api import Api, Conflict, Missing
from engines.kubernetes.feed import Listing, Source
from engines.kubernetes.forwarding import forward
from engines.kubernetes.giving_up import GivingUp
from engines.kubernetes.impossible import judged
from engines.kubernetes.inventory import Inventory
from engines.kubernetes.kinds import Kind, job_name
from engines.kubernetes.known import Known
from engines.kubernetes.manifests import IMAGES, manifests
from engines.kubernetes.naming import is_of, namespace_of
from engines.kubernetes.observing import ENDS, Look, run_of, was_resumed
from engines.kubernetes.output import STREAMS, Output
from engines.kubernetes.pods import Seen
from engines.kubernetes.refusals import kind_of
from engines.kubernetes.rendering import masked
from engines.kubernetes.sources import Images
from engines.kubernetes.terminal import PodSession
from engines.kubernetes.tools import object_of
from engines.kubernetes.usage import Meter
from engines.kubernetes.watching import PODS, Watcher
from engines.logs import Log, Piece
from engines.queues import Wanted
from engines.session import Session
from spec.phases import TERMINAL, Phase
from spec.tools import Tool

DEFAULT_PREFIX = "trainyard-"
TRIES = 5  # at changing a job that someone else changes at the same time


class KubernetesEngine:
    """Keeps nothing but what it saw last, so any number of processes can use one cluster.

    Each project has a namespace, named after it behind ``prefix``. ``images`` fetch data;
    ``prometheus`` is the address of one that knows what GPUs do, if there is any.
    """

    def __init__(
        self,
        api: Api,
        *,
        prefix: str = DEFAULT_PREFIX,
        images: Images = IMAGES,
        prometheus: str = "",
        log_streams: int = STREAMS,
    ) -> None:
        self._api, self._prefix, self._images = api, prefix, images
        self._meter = Meter(api, prefix=prefix, prometheus=prometheus)
        self._output = Output(api, streams=log_streams)
        self._inventory = Inventory(api, self._pods)
        self._watcher: Watcher | None = None

    def capabilities(self) -> Capabilities:
        return discovery.capabilities(self._api)

    def nodes(self) -> tuple[Node, ...]:
        return self._inventory.nodes()

    def _pods(self) -> list[Manifest] | None:
        """Those of workloads, where somebody watches them in this process."""
        mine = self._watcher
        if mine is None:
            return None
        pods = [pod for known in list(mine.known.values()) for pod in list(known.pods.values())]
        return pods if mine.is_current else None

    def check(self) -> tuple[Finding, ...]:
        return checking.findings(self._api, self._inventory)

    def keep_queues(self, wanted: Wanted) -> None:
        queues.keep(self._api, self._prefix, wanted)

    def render(self, launch: Launch) -> list[Manifest]:
        return masked(manifests(launch, prefix=self._prefix, images=self._images))

    def submit(self, launch: Launch) -> None:
        """Every object by a name of the workload's, the job last: whoever comes again after any
        step makes what is missing and no second one."""
        space, *others, job = manifests(launch, prefix=self._prefix, images=self._images)
        kind = kind_of(launch)
        path = kind.path(space["metadata"]["name"], job["metadata"]["name"])
        if launch.run == 1 and not others and self._create(launch, kind, space, job):
            return
        known = self._api.find(path)
        if known is None:
            belongings.make_namespace(self._api, space)
        elif not self._may_start_again(launch, kind, known):
            return
        for item in others:
            belongings.make(self._api, item)
        with explained(launch, kind):
            self._api.apply(path, job)

    def watch(self) -> Generator[Observation | None]:
        giving_up = GivingUp(self._api)

        def heed(uid: UUID, known: Known) -> None:
            if known.job is None or is_of(self._prefix, known.job):
                self._output.heed(uid, known)
                giving_up.heed(uid, known)

        mine = self._watcher = Watcher(self._api, heed, self._inventory.last)
        self._output.wake()
        try:
            with closing(iter(mine)) as news:
                for seen in news:
                    yield seen
                    if seen is None:
                        mine.heard.extend(giving_up.act())
        finally:
            if self._watcher is mine:
                self._watcher = None
                self._output.rest()

    def events(self) -> list[ClusterEvent]:
        heard = self._watcher.heard if self._watcher else ()
        return [heard.popleft() for _ in range(len(heard))] if heard else []

    def observe(self, handle: Handle) -> Observation | None:
        known = self._known(handle)
        seen = known.observation if known else None
        return judged(seen, known.pods.values(), self._inventory.last) if known and seen else None

    def stop(self, handle: Handle, *, run: int) -> None:
        for _ in range(TRIES):
            found = self._find(handle)
            if found is None or run_of(found[1]) != run:
                return
            kind, job = found
            if job["spec"].get("runPolicy", {}).get("suspend"):
                self._end_ephemeral(handle)
                return
            if Look.at(kind, job, ()).observation().phase in TERMINAL:
                return
            version = job["metadata"]["resourceVersion"]
            wish = {
                "metadata": {"resourceVersion": version},
                "spec": {"runPolicy": {"suspend": True}},
            }
            try:
                self._api.merge(self._path(kind, handle), wish)
            except Missing:
                return
            except Conflict:
                continue
            self._end_ephemeral(handle)
            return
        raise EngineUnavailable(f"{handle.name} changes all the time; it is asked again.")

    def _end_ephemeral(self, handle: Handle) -> None:
        belongings.remove_claims(self._api, handle, self._space(handle), ephemeral=True)

    def delete(self, handle: Handle) -> None:
        """The job goes when its pods and services are gone, which their grace period may delay."""
        for kind in discovery.kinds_here(self._api):
            self._api.delete(self._path(kind, handle), propagationPolicy="Foreground")
        belongings.remove(self._api, handle, self._space(handle))

    def news(self) -> set[UUID]:
        pods, found = self._meter.refresh(), self._output.news()
        if pods and self._watcher:
            found |= {uid for uid, one in self._watcher.known.items() if pods & one.names}
        return found

    def logs(self, handle: Handle, *, run: int) -> list[Log]:
        if self._watcher is None:
            self._output.heed(handle.workload_id, self._known(handle) or Known())
            self._output.rest()
        return self._output.logs(handle.workload_id, run)

    def read_log(self, handle: Handle, log: Log, *, offset: int, cursor: str, limit: int) -> Piece:
        return self._output.read(handle.workload_id, log, cursor, limit)

    def exec(self, handle: Handle, *, rank: int, argv: Sequence[str]) -> Session:
        look = self._look(handle)
        pod = _pod_of(look, rank)
        return PodSession(self._api, pod.path, pod.kind.container, argv)

    def address(self, handle: Handle, tool: Tool) -> str:
        seen = _pod_of(self._look(handle), tool.pod.rank)
        name = object_of(job_name(handle), tool)
        host = str(seen.status.get("hostIP", ""))
        return outside.address(self._api, self._space(handle), name, tool, host)

    def dial(self, handle: Handle, *, rank: int, port: int) -> socket.socket:
        return forward(self._api, _pod_of(self._look(handle), rank).path, port)

    def usage(self, handle: Handle, *, run: int, after: datetime | None) -> list[Usage]:
        """Only of what a watch in this process sees: sampling is for what runs."""
        known = self._watcher.known.get(handle.workload_id) if self._watcher else None
        look = known.look if known else None
        return self._meter.read(look, after) if look and run_of(look.job) == run else []

    def _look(self, handle: Handle) -> Look | None:
        known = self._known(handle)
        return known.look if known else None

    def _known(self, handle: Handle) -> Known | None:
        """Pods first, as the watch does, so that what it tells compares with what that tells.

        A job that changed meanwhile is read again with its pods, a few times at most.
        """
        path = PODS.replace("pods", f"namespaces/{self._space(handle)}/pods")
        known = None
        for _ in range(TRIES):
            listing = Listing(self._api, Source(path, only=handle.workload_id))
            pods, found = list(listing), self._find(handle)
            if found is None:
                return None
            known = Known.read(*found, pods, upto=int(listing.since))
            if known.is_whole:
                break
        return known

    def _find(self, handle: Handle) -> tuple[Kind, Manifest] | None:
        """The job of a workload; one that is being deleted is as good as gone."""
        for kind in discovery.kinds_here(self._api):
            job = self._api.find(self._path(kind, handle))
            if job and not job["metadata"].get("deletionTimestamp"):
                return kind, job
        return None

    def _path(self, kind: Kind, handle: Handle) -> str:
        return kind.path(self._space(handle), job_name(handle))

    def _space(self, handle: Handle) -> str:
        return namespace_of(handle.project, self._prefix)

    def _create(self, launch: Launch, kind: Kind, space: Manifest, job: Manifest) -> bool:
        """The first start in one call, which is all that most submissions need; ``False`` when
        there is no namespace yet, or a job of this name."""
        path = kind.path(space["metadata"]["name"], "").rstrip("/")
        with explained(launch, kind):
            try:
                self._api.create(path, job)
            except (Conflict, Missing):
                return False
        return True

    def _may_start_again(self, launch: Launch, kind: Kind, job: Manifest) -> bool:
        """Whether the job of an earlier run is stopped, so that this run can take it over."""
        if job["metadata"].get("deletionTimestamp"):
            raise EngineUnavailable("The job of this name is still being deleted.")
        if run_of(job) >= launch.run:
            return False
        if was_resumed(job):
            return True  # by somebody else, as the run that is asked for now
        look = self._look(launch.handle)
        phase = look.observation().phase if look else None
        if phase in ENDS - {Phase.STOPPED}:
            raise EngineRefused(f"Run {run_of(job)} ended as {phase}; start a new workload.")
        if phase is not Phase.STOPPED:
            raise EngineUnavailable(f"run {run_of(job)} is still ending")
        return True


@contextmanager
def explained(launch: Launch, kind: Kind) -> Iterator[None]:
    """A job's refusal in our words, with the field of the spec that it is about."""
    try:
        yield
    except Missing as error:
        message = f"The cluster has no {kind.name}; its administrator can install the operator."
        raise EngineRefused(message, field="distributedFramework") from error
    except EngineRefused as error:
        own = launch.spec.master is not None
        field = fields.ours(kind, error.field, str(error), own_master=own)
        raise EngineRefused(str(error), field=field) from error


def _pod_of(look: Look | None, rank: int) -> Seen:
    """The pod that a rank runs in now."""
    seen = look.present.get(look.slots[rank]) if look and rank < len(look.slots) else None
    if seen is None or not seen.is_ready:
        raise EngineRefused("The rank does not run.")
    return seen
