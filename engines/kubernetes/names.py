"""The names of our objects."""

from hashlib import sha256

from engines.base import Handle, Launch
from spec.values.names import object_name
from spec.workload import Role

HEAD = 54  # longest start of a name that leaves room for the tail in a label value


def job_name(handle: Handle) -> str:
    """The job's name: at most 49 characters, so that ``-worker-511`` still makes a DNS label."""
    return object_name(handle.name, handle.workload_id)


def secret_name(launch: Launch) -> str:
    return f"{job_name(launch.handle)}-env"


def pull_secret_name(launch: Launch) -> str:
    return f"{job_name(launch.handle)}-pull"


def claim_name(launch: Launch, source: Role, number: int) -> str:
    return f"{job_name(launch.handle)}-{source}-volume-{number}"


def namespace_of(project: str, prefix: str) -> str:
    return f"{prefix}{project}"


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
