"""The names of our objects, and the labels and annotations by which we find them."""

from hashlib import sha256

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import NAME, PROJECT, RUN, SUBMITTED_BY, WORKLOAD, job_name
from spec.workload import Role

EPHEMERAL = "trainyard.io/ephemeral"  # label of claims that are removed when the workload stops
INSTALLATION = "trainyard.io/installation"  # label: which Trainyard owns it, if there are several
QUEUES_OF = "trainyard.io/queues-of"  # label of the queues that one Trainyard made
HEAD = 54  # longest start of a name that leaves room for the tail in a label value


def namespace_of(project: str, prefix: str) -> str:
    return f"{prefix}{project}"


def is_of(prefix: str, job: Manifest, installation: str = "") -> bool:
    """Whether the Trainyard with this prefix created the job. Another one may use the same cluster
    with a similar prefix; it then reads and ends its jobs itself."""
    meta = job["metadata"]
    project = str((meta.get("labels") or {}).get(PROJECT, ""))
    ours = meta.get("namespace") == namespace_of(project, prefix)
    return ours and not is_of_another(job, installation)


def is_of_another(item: Manifest, installation: str) -> bool:
    """Whether the object is marked as another Trainyard's. Unmarked objects date from before there
    were marks, and count as ours."""
    mark = (item["metadata"].get("labels") or {}).get(INSTALLATION, "")
    return bool(mark and installation) and mark != installation


def mark(installation: str) -> dict[str, str]:
    return {INSTALLATION: installation} if installation else {}


def project_queue(project: str, prefix: str) -> str:
    """The name of a project's queue, and the value of the label by which KAI finds it."""
    return _queue("project", project, prefix)


def department_queue(department: str, prefix: str) -> str:
    return _queue("department", department, prefix)


def queues_of(prefix: str) -> str:
    """The label value of this prefix's queues: a hash, because a prefix may end in a hyphen and a
    label value must not."""
    return _tail(prefix)


def _queue(kind: str, name: str, prefix: str) -> str:
    """A queue's name. Queues are cluster-wide: a department may be named like a project, and prefix
    plus name may read like another pair. The hashed tail tells them apart."""
    return f"{prefix}{name}"[:HEAD].rstrip("-") + f"-{_tail(kind, prefix, name)}"


def _tail(*parts: str) -> str:
    return sha256("/".join(parts).encode()).hexdigest()[:8]


def labels(launch: Launch) -> dict[str, str]:
    return {WORKLOAD: str(launch.handle.workload_id), PROJECT: launch.handle.project}


def annotations(launch: Launch) -> dict[str, str]:
    notes = {RUN: str(launch.run), NAME: launch.handle.name}
    return notes | ({SUBMITTED_BY: launch.submitted_by} if launch.submitted_by else {})


def secret_name(launch: Launch) -> str:
    return f"{job_name(launch.handle)}-env"


def pull_secret_name(launch: Launch) -> str:
    return f"{job_name(launch.handle)}-pull"


def claim_name(launch: Launch, source: Role, number: int) -> str:
    return f"{job_name(launch.handle)}-{source}-volume-{number}"


def source_of(launch: Launch, role: Role) -> Role:
    """The role whose part of the spec a replica uses: a master may inherit the workers'."""
    return role if launch.spec.master else Role.WORKER


def without_empty(document: Manifest) -> Manifest:
    """Drop empty values. ``False`` and ``0`` are statements, and stay."""
    return {key: value for key, value in document.items() if value not in (None, "", [], {})}
