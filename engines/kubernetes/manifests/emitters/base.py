"""The interface of emitters."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import JobKind
from engines.kubernetes.manifests.pod.fetchers import Images
from spec.workload import JobForm, Pod

Complaint = tuple[str, str]  # place, message


@dataclass(frozen=True)
class Place:
    """Where the objects of a launch go: their namespace, the ``images`` of init containers, and
    ``marks``, labels of all of its jobs and pods."""

    space: str
    images: Images
    marks: dict[str, str]


class Emitter(ABC):
    """What runs a workload on a cluster: an operator, or Kubernetes itself.

    ``form`` is how a spec asks for it; ``None`` if there is no other way for what it runs.
    """

    form: JobForm | None = None

    @abstractmethod
    def fits(self, launch: Launch) -> bool:
        """Whether it runs such workloads on this cluster unless they ask for another form."""

    def why_not(self, launch: Launch) -> str:
        """Why it cannot run a gang that asks for it, as a phrase; empty if it can."""
        return ""

    @abstractmethod
    def kind(self, launch: Launch) -> JobKind:
        """The kind of the job."""

    @abstractmethod
    def explain(self, launch: Launch) -> str:
        """What runs the workload and why, in words for people."""

    @abstractmethod
    def job_spec(self, launch: Launch, place: Place) -> Manifest:
        """The ``spec`` of the job."""

    def labels(self, launch: Launch) -> dict[str, str]:
        """Labels that this emitter, of all, gives the job."""
        return {}

    def annotations(self, launch: Launch) -> dict[str, str]:
        """Annotations that this emitter, of all, gives the job."""
        return {}

    def companions(self, launch: Launch, place: Place) -> list[Manifest]:
        """Objects that the job needs besides those that every workload has. Jobs among them are
        created after the job, and go with it."""
        return []

    @abstractmethod
    def pod_selector(self, launch: Launch, pod: Pod) -> dict[str, str]:
        """Labels that tell a pod from others of its workload."""

    def complaints(self, launch: Launch) -> Iterator[Complaint]:
        """Yield what this emitter, of all, cannot provide."""
        yield from ()
