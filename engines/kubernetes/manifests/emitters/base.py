"""The interface of emitters."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import JobKind
from engines.kubernetes.manifests.pod.fetchers import Images

Complaint = tuple[str, str]  # place, message


class Emitter(ABC):
    """What runs a workload on a cluster: an operator, or Kubernetes itself."""

    @abstractmethod
    def fits(self, launch: Launch) -> bool:
        """Whether it runs such workloads on this cluster."""

    @abstractmethod
    def kind(self, launch: Launch) -> JobKind:
        """The kind of the job."""

    @abstractmethod
    def job_spec(self, launch: Launch, images: Images, marks: dict[str, str]) -> Manifest:
        """The ``spec`` of the job. ``marks`` are labels of all of its pods."""

    def complaints(self, launch: Launch) -> Iterator[Complaint]:
        """Yield what this emitter, of all, cannot provide."""
        yield from ()
