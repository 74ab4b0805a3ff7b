"""The permissions that Trainyard needs on a cluster, in one list.

The connection test checks each of them, and the manifest that grants them is made from the list.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

import yaml

from engines.base import Manifest
from engines.kubernetes.jobs import KAI_GROUP, KINDS, PLAIN_JOB, PYTORCH, JobKind
from engines.kubernetes.kueue.names import KUEUE, VISIBILITY

NAME = NAMESPACE = "trainyard"
RBAC = "rbac.authorization.k8s.io"
CORE = ""
JOBS = PYTORCH.group
FOLLOW = ("list", "watch")
ALL = ("get", *FOLLOW, "create", "patch", "delete")
#: For objects that are created and changed by server-side apply, and found by label.
KEEP = ("list", "create", "patch", "delete")


@dataclass(frozen=True)
class Right:
    """A permission. ``purpose`` is what does not work without it; ``needed``: nothing works without
    it.

    ``resource`` is a plural; a subresource follows after a slash.
    """

    group: str
    resource: str
    verbs: tuple[str, ...]
    purpose: str
    needed: bool = False

    @property
    def title(self) -> str:
        """The resource's name, by which findings on it are put together."""
        return f"{self.resource}.{self.group}" if self.group else self.resource


def _job(kind: JobKind) -> Right:
    return Right(kind.group, kind.plural, ALL, f"running {kind.name}s", needed=True)


RIGHTS = (
    Right(CORE, "namespaces", ("get", "create"), "a namespace for each project", needed=True),
    Right(CORE, "namespaces", ("list", "patch"), "telling apart two Trainyards on one cluster"),
    *map(_job, (*KINDS.values(), PLAIN_JOB)),
    Right(CORE, "pods", ("get", *FOLLOW), "following the ranks", needed=True),
    Right(CORE, "pods/log", ("get",), "collecting the output of the ranks", needed=True),
    Right(CORE, "nodes", ("list",), "showing nodes and free resources", needed=True),
    Right(CORE, "secrets", ("create", "patch", "delete"), "secret values of variables"),
    Right(CORE, "persistentvolumeclaims", ("get", "list", "create", "delete"), "new volumes"),
    Right(
        CORE,
        "services",
        ("get", *KEEP),
        "tools on ports, and the names of ranks without an operator",
    ),
    Right("networking.k8s.io", "ingresses", ("get", *KEEP), "tools under an external URL"),
    Right(CORE, "pods/exec", ("get", "create"), "the terminal"),
    Right(CORE, "pods/portforward", ("get", "create"), "tools through Trainyard"),
    Right(CORE, "events", FOLLOW, "the events of pods and jobs"),
    Right(CORE, "configmaps", ("list",), "offering ConfigMaps by their names"),
    Right("storage.k8s.io", "storageclasses", ("list",), "offering storage classes"),
    Right("scheduling.k8s.io", "priorityclasses", ("list",), "offering priority classes"),
    Right("metrics.k8s.io", "pods", ("list",), "CPU and memory usage of the ranks"),
    Right(KAI_GROUP, "queues", KEEP, "the quotas of projects in KAI"),
    Right(KAI_GROUP, "podgroups", FOLLOW, "showing why KAI keeps a workload waiting"),
    Right(VISIBILITY, "localqueues/pendingworkloads", ("get",), "places in the queues of Kueue"),
    Right(KUEUE, "workloads", ("get", *FOLLOW, "patch"), "following and stopping jobs of Kueue"),
    Right(KUEUE, "localqueues", ("list",), "offering the queues of Kueue"),
    Right(KUEUE, "clusterqueues", ("list",), "showing the quota of Kueue's queues"),
    Right("kai.scheduler", "topologies", ("list",), "placing ranks near each other"),
)
#: The part that the web process needs, for terminals and tools; the rest is the worker's.
WEB_RIGHTS = (
    Right(CORE, "pods", ("list",), "finding the pod of a rank"),
    *(
        Right(kind.group, kind.plural, ("get",), "finding a job")
        for kind in (*KINDS.values(), PLAIN_JOB)
    ),
    Right(PLAIN_JOB.group, PLAIN_JOB.plural, ("list",), "finding the Jobs of other ranks"),
    Right(CORE, "pods/exec", ("get", "create"), "the terminal"),
    Right(CORE, "pods/portforward", ("get", "create"), "tools through Trainyard"),
    Right(CORE, "services", ("get",), "the addresses of tools on ports"),
    Right("networking.k8s.io", "ingresses", ("get",), "the addresses of external URLs"),
)


def rules(rights: Iterable[Right] = RIGHTS) -> list[Manifest]:
    """The rules of a ClusterRole: cluster-wide, because projects' namespaces are created as
    needed."""
    return [
        {"apiGroups": [right.group], "resources": [right.resource], "verbs": list(right.verbs)}
        for right in rights
    ]


def manifests(subject: Manifest | None = None) -> Iterator[Manifest]:
    """The role and its binding to ``subject``, or to a service account that is created as well."""
    if subject is None:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        subject = account(NAME)
        yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _meta(subject)}
    yield from role_and_binding(subject, rules())


def account(name: str) -> Manifest:
    return {"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}


def _meta(subject: Manifest) -> Manifest:
    return {"name": subject["name"], "namespace": subject["namespace"]}


def role_and_binding(subject: Manifest, rules: list[Manifest]) -> Iterator[Manifest]:
    """Role and binding, named after their subject, so that those of other connections are not
    overwritten."""
    about = {"apiVersion": f"{RBAC}/v1", "metadata": {"name": role_name(subject)}}
    yield {**about, "kind": "ClusterRole", "rules": rules}
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role_name(subject)}
    yield {**about, "kind": "ClusterRoleBinding", "roleRef": role, "subjects": [subject]}


def role_name(subject: Manifest) -> str:
    """The name of role and binding: ``trainyard:ml:runner`` for the service account ``runner`` in
    ``ml``, ``trainyard:ada`` for a user. If characters have to be replaced, a digest keeps names
    apart."""
    named = ":".join([*filter(None, [subject.get("namespace")]), subject["name"]])
    safe = re.sub(r"[/%\s]", "-", named)
    tail = "" if safe == named else f"-{sha256(named.encode()).hexdigest()[:8]}"
    return f"{NAME}:{safe}{tail}"


def parse_subject(user: str) -> Manifest | None:
    """The subject of a binding for this user name; ``None`` if it is empty."""
    if not user:
        return None
    parts = user.split(":")
    if parts[:2] == ["system", "serviceaccount"] and len(parts) == 4:
        space, name = parts[2:]
        return {"kind": "ServiceAccount", "name": name, "namespace": space}
    return {"apiGroup": RBAC, "kind": "User", "name": user}


def render_manifest(user: str = "") -> str:
    """The YAML that grants ``user`` all permissions."""
    return yaml.safe_dump_all(manifests(parse_subject(user)), sort_keys=False)


if __name__ == "__main__":  # python -m engines.kubernetes.cluster.rbac [USER]
    sys.stdout.write(render_manifest(*sys.argv[1:2]))
