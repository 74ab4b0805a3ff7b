"""The names of our objects."""

from hashlib import sha256

from engines.base import Handle, Launch
from spec.parts.scheduling import DEFAULT_POOL
from spec.values.names import object_name

LONGEST_START = 54  # longest start of a name that leaves room for the tail in a label value


def job_name(handle: Handle) -> str:
    """The job's name: at most 49 characters, so that ``-worker-511`` still makes a DNS label."""
    return object_name(handle.name, handle.workload_id)


def secret_name(launch: Launch) -> str:
    return f"{job_name(launch.handle)}-env"


def pull_secret_name(launch: Launch) -> str:
    return f"{job_name(launch.handle)}-pull"


def claim_name(launch: Launch, source: str, number: int) -> str:
    return f"{job_name(launch.handle)}-{source}-volume-{number}"


def project_namespace(project: str, prefix: str) -> str:
    return f"{prefix}{project}"


def project_queue(project: str, prefix: str, pool: str = DEFAULT_POOL) -> str:
    """The name of a project's queue in a node pool, and the value of the label by which KAI finds
    it."""
    return _queue_name("project", project, prefix, pool)


def department_queue(department: str, prefix: str, pool: str = DEFAULT_POOL) -> str:
    return _queue_name("department", department, prefix, pool)


def queue_label_value(prefix: str) -> str:
    """The label value of this prefix's queues: a hash, because a prefix may end in a hyphen and a
    label value must not."""
    return _short_hash(prefix)


def _queue_name(kind: str, name: str, prefix: str, pool: str) -> str:
    """A queue's name. Queues are cluster-wide: a department may be named like a project, and prefix
    plus name may read like another pair. The hashed tail tells them apart."""
    others = () if pool == DEFAULT_POOL else (pool,)
    start = "-".join((f"{prefix}{name}", *others))[:LONGEST_START].rstrip("-")
    return f"{start}-{_short_hash(kind, prefix, name, *others)}"


def _short_hash(*parts: str) -> str:
    return sha256("/".join(parts).encode()).hexdigest()[:8]
