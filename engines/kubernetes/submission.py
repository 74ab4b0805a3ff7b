"""Start workloads: create their objects in order, each once, and clear away the job of an earlier
run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engines.base import EngineRefused, EngineUnavailable, Handle, Launch, Manifest
from engines.kubernetes import objects
from engines.kubernetes.client.api import Api, Conflict, NotFound
from engines.kubernetes.cluster.prefix import PrefixGuard
from engines.kubernetes.followers import create_followers
from engines.kubernetes.jobs import PLAIN_JOB, JobKind, is_suspended
from engines.kubernetes.labels import RUN, run_number
from engines.kubernetes.manifests import refused_fields
from engines.kubernetes.manifests.emitters import emitter_for
from engines.kubernetes.ranks import has_followers
from engines.kubernetes.status.conditions import was_resumed
from engines.kubernetes.watch.lookup import Lookup
from spec.phases import TERMINAL, Phase

BEING_DELETED = "The job of the run before is being deleted."
BEING_REPLACED = "The job of this name was created or deleted a moment ago."


class Submitter:
    """``render`` makes the objects of a launch: the namespace first, the job last. ``guard`` says
    whether the namespaces' prefix is ours to use."""

    def __init__(
        self,
        api: Api,
        now: Lookup,
        render: Callable[[Launch], list[Manifest]],
        guard: PrefixGuard,
    ) -> None:
        self._api = api
        self._lookup = now
        self._render = render
        self._guard = guard
        self._claimed = set[str]()

    def submit(self, launch: Launch) -> None:
        space, *rest, job = self._render(launch)
        followers = [item for item in rest if item["kind"] == PLAIN_JOB.name]
        others = [item for item in rest if item["kind"] != PLAIN_JOB.name]
        kind = emitter_for(launch).kind(launch)
        name = space["metadata"]["name"]
        path = kind.path(name, job["metadata"]["name"])
        if name not in self._claimed:
            self._guard.check()
            objects.claim_namespace(self._api, space)
            self._claimed.add(name)
        if launch.run == 1 and not others and self._create(launch, kind, space, job):
            return
        before = self._api.find(path)
        if before is None:
            self._remove_job_of_other_kind(launch, kind)
            objects.claim_namespace(self._api, space)  # it may have been deleted since
        elif not self._may_take_over(launch, kind, before):
            if followers and run_number(before) == launch.run and not is_suspended(before):
                self._create_followers(path, followers)  # if that was interrupted
            return
        for item in others:
            objects.create_object(self._api, item)
        if before is not None and not kind.is_plain:
            with translate_refusal(launch, kind):
                self._api.apply(path, job)  # the job of the run before goes on as this run
        elif not self._create(launch, kind, space, job, again=True):
            raise EngineUnavailable(BEING_REPLACED)
        if followers:
            self._create_followers(path, followers)

    def _create_followers(self, path: str, followers: list[Manifest]) -> None:
        """Create the Jobs of the other ranks. If the cluster refuses one, nothing is left."""
        try:
            create_followers(self._api, self._api.get(path), followers)
        except EngineRefused as error:
            self._api.delete(path, propagationPolicy="Background")
            raise EngineRefused(str(error), field="roles") from error

    def _create(
        self, launch: Launch, kind: JobKind, space: Manifest, job: Manifest, *, again: bool = False
    ) -> bool:
        """Create the job in one call, which is all that most submissions need. ``False`` if the
        namespace does not exist yet, or a job with this name does.

        ``again``: the namespace does exist, so what an operator's job lacks is its kind.
        """
        path = kind.path(space["metadata"]["name"], "").rstrip("/")
        is_kind_missing = again and not kind.is_plain
        with translate_refusal(launch, kind):
            try:
                self._api.create(path, job)
            except Conflict:
                return False
            except NotFound:
                if is_kind_missing:
                    raise
                return False
        return True

    def _may_take_over(self, launch: Launch, kind: JobKind, job: Manifest) -> bool:
        """Whether the job of an earlier run has stopped, so that this run can take it over.

        One that has ended is deleted: this run gets a new job."""
        if job["metadata"].get("deletionTimestamp"):
            raise EngineUnavailable("The job of this name is still being deleted.")
        if run_number(job) >= launch.run:
            return False
        view = self._lookup.job_view(launch.handle)
        is_managed = view is not None and view.is_managed
        if view and is_managed and not view.is_halted:
            # Somebody activated it again, as the requested run. Kueue starts it.
            self._mark_run(launch, kind)
            return False
        if was_resumed(job) and not is_managed:  # resumed on the cluster, as the requested run
            if kind.is_plain:
                self._mark_run(launch, kind)
            return not kind.is_plain
        phase = view.observation().phase if view else None
        if phase in TERMINAL:
            self._remove_finished_job(launch.handle, kind, "Foreground")
            raise EngineUnavailable(BEING_DELETED)
        if phase is not Phase.STOPPED:
            raise EngineUnavailable(f"run {run_number(job)} is still ending")
        if kind.is_plain and not has_followers(job):
            # Its template cannot be changed, and no pod is left.
            self._remove_finished_job(launch.handle, kind, "Background")
        elif kind.is_plain or (view and view.queued):
            # What Kueue manages is never written over. Its services have the names of the next
            # ones, so they have to be gone first. So do followers.
            self._remove_finished_job(launch.handle, kind, "Foreground")
            raise EngineUnavailable(BEING_DELETED)
        return True

    def _remove_job_of_other_kind(self, launch: Launch, kind: JobKind) -> None:
        """Remove the job of the run before if another kind of job ran it: an operator was installed
        or removed since."""
        present = self._lookup.job(launch.handle) if launch.run > 1 else None
        if present is None or present[0] == kind:
            return
        if self._may_take_over(launch, *present):
            self._remove_finished_job(launch.handle, present[0], "Foreground")
            raise EngineUnavailable(BEING_DELETED)

    def _mark_run(self, launch: Launch, kind: JobKind) -> None:
        """Note on a job that goes on by itself which run it is now."""
        mark = {"metadata": {"annotations": {RUN: str(launch.run)}}}
        self._api.merge(self._lookup.path(kind, launch.handle), mark)

    def _remove_finished_job(self, handle: Handle, kind: JobKind, propagation: str) -> None:
        """Remove a finished job to make room for that of the next run."""
        space = self._lookup.namespace(handle)
        objects.remove_claims(self._api, handle, space, ephemeral=True)
        self._api.delete(self._lookup.path(kind, handle), propagationPolicy=propagation)


@contextmanager
def translate_refusal(launch: Launch, kind: JobKind) -> Iterator[None]:
    """Translate the refusal of a job into our words, with the field of the spec that it
    concerns."""
    try:
        yield
    except NotFound as error:
        message = f"The cluster has no {kind.name}; its administrator can install the operator."
        field = "distributedFramework" if launch.spec.kind.is_gang else "kind"
        raise EngineRefused(message, field=field) from error
    except EngineRefused as error:
        own = launch.spec.master is not None
        lead = next((role.path for role in launch.spec.gang_roles if role.leads), "worker")
        field = refused_fields.spec_field(kind, error.field, str(error), own_master=own, lead=lead)
        raise EngineRefused(str(error), field=field) from error
