"""What our objects are called, and the marks by which they are found again."""

from hashlib import sha256

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import NAME, PROJECT, RUN, SUBMITTED_BY, WORKLOAD, job_name
from spec.workload import Role

EPHEMERAL = "trainyard.io/ephemeral"  # label of claims that go when the workload stops
INSTALLATION = "trainyard.io/installation"  # label: which Trainyard it is of, where several are
QUEUES_OF = "trainyard.io/queues-of"  # label of the queues that one Trainyard made
HEAD = 54  # characters of a name that leave room for the tail in the value of a label


def namespace_of(project: str, prefix: str) -> str:
    return f"{prefix}{project}"


def is_of(prefix: str, job: Manifest, installation: str = "") -> bool:
    """Whether the Trainyard with this prefix made it. Another one may use the same cluster, and its
    prefix may begin alike; it reads the logs of its jobs and ends them itself."""
    meta = job["metadata"]
    project = str((meta.get("labels") or {}).get(PROJECT, ""))
    ours = meta.get("namespace") == namespace_of(project, prefix)
    return ours and not is_of_another(job, installation)


def is_of_another(item: Manifest, installation: str) -> bool:
    """Whether it bears the mark of another Trainyard. What has none is from before there were any,
    and counts as ours."""
    mark = (item["metadata"].get("labels") or {}).get(INSTALLATION, "")
    return bool(mark and installation) and mark != installation


def mark(installation: str) -> dict[str, str]:
    return {INSTALLATION: installation} if installation else {}


def project_queue(project: str, prefix: str) -> str:
    """Also the value of the label by which KAI finds it."""
    return _queue("project", project, prefix)


def department_queue(department: str, prefix: str) -> str:
    return _queue("department", department, prefix)


def queues_of(prefix: str) -> str:
    """A prefix may end in a hyphen, and the value of a label must not."""
    return _tail(prefix)


def _queue(kind: str, name: str, prefix: str) -> str:
    """Queues are of the whole cluster, where a department may be called as a project, and one
    Trainyard's prefix and name run together as another's: the tail tells them apart."""
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
    """Whose part of the spec a replica is made from: a master may inherit the workers'."""
    return role if launch.spec.master else Role.WORKER


def without_empty(document: Manifest) -> Manifest:
    """Without what says nothing. A false and a zero are statements, and stay."""
    return {key: value for key, value in document.items() if value not in (None, "", [], {})}
