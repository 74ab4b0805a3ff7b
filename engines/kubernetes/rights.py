"""What Trainyard may have to do on a cluster, said once.

The test of a connection asks for each of these rights, and the manifest that grants them is made of
the same list.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from engines.base import Manifest

PERMISSIONS, SIGNED_IN = "Permissions", "Signed in as"  # what findings about them are called
NAME = NAMESPACE = "trainyard"
RBAC = "rbac.authorization.k8s.io"
CORE, JOBS, KAI = "", "kubeflow.org", "scheduling.run.ai"
READ = ("get", "list", "watch")
KEEP = ("get", "list", "create", "patch", "delete")


@dataclass(frozen=True)
class Right:
    """``purpose`` is what does not work without it. ``needed``: without it nothing does.

    ``resource`` is a plural, with its subresource behind a slash.
    """

    group: str
    resource: str
    verbs: tuple[str, ...]
    purpose: str
    needed: bool = False

    @property
    def title(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource


def _job(plural: str, name: str) -> Right:
    verbs = ("get", "list", "watch", "create", "patch", "delete")
    return Right(JOBS, plural, verbs, f"running {name}s", needed=True)


RIGHTS = (
    Right(CORE, "namespaces", ("get", "create"), "a namespace for each project", needed=True),
    _job("pytorchjobs", "PyTorchJob"),
    _job("tfjobs", "TFJob"),
    _job("xgboostjobs", "XGBoostJob"),
    _job("mpijobs", "MPIJob"),
    _job("jaxjobs", "JAXJob"),
    Right(CORE, "pods", READ, "following the ranks", needed=True),
    Right(CORE, "pods/log", ("get",), "keeping what the ranks print", needed=True),
    Right(CORE, "nodes", ("list",), "showing nodes and what is free", needed=True),
    Right(CORE, "secrets", KEEP, "credentials", needed=True),
    Right(CORE, "configmaps", KEEP, "configuration in files"),
    Right(CORE, "persistentvolumeclaims", KEEP, "volumes and data sources"),
    Right(CORE, "services", KEEP, "tools on ports"),
    Right("networking.k8s.io", "ingresses", KEEP, "tools under an external URL"),
    Right(CORE, "pods/exec", ("get", "create"), "the terminal"),
    Right(CORE, "pods/portforward", ("get", "create"), "tools through Trainyard"),
    Right(CORE, "events", READ, "the events of pods and jobs"),
    Right("storage.k8s.io", "storageclasses", ("list",), "offering storage classes"),
    Right("scheduling.k8s.io", "priorityclasses", ("list",), "offering priority classes"),
    Right("metrics.k8s.io", "pods", ("get", "list"), "CPU and memory use of the ranks"),
    Right(KAI, "queues", KEEP, "the quotas of projects in KAI"),
    Right(KAI, "podgroups", READ, "saying why KAI lets a workload wait"),
    Right("kai.scheduler", "topologies", ("list",), "placing ranks near each other"),
)


def rules() -> list[Manifest]:
    """The rules of a ClusterRole: projects get their namespaces only as they come."""
    return [
        {"apiGroups": [right.group], "resources": [right.resource], "verbs": list(right.verbs)}
        for right in RIGHTS
    ]


def manifests(subject: Manifest | None = None) -> Iterator[Manifest]:
    """The role and its binding to ``subject``; without one, a service account to bind it to."""
    if subject is None:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        account = {"name": NAME, "namespace": NAMESPACE}
        yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account}
        subject = {"kind": "ServiceAccount", **account}
    about = {"apiVersion": f"{RBAC}/v1", "metadata": {"name": NAME}}
    yield {**about, "kind": "ClusterRole", "rules": rules()}
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": NAME}
    yield {**about, "kind": "ClusterRoleBinding", "roleRef": role, "subjects": [subject]}


def subject_of(user: str) -> Manifest | None:
    """The subject of a binding that means this user name; ``None`` for nobody."""
    if not user:
        return None
    parts = user.split(":")
    if parts[:2] == ["system", "serviceaccount"] and len(parts) == 4:
        space, name = parts[2:]
        return {"kind": "ServiceAccount", "name": name, "namespace": space}
    return {"apiGroup": RBAC, "kind": "User", "name": user}


def manifest(user: str = "") -> str:
    """The YAML to apply so that ``user`` may do all of it."""
    return yaml.safe_dump_all(manifests(subject_of(user)), sort_keys=False)
