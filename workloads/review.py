"""Everything a draft says, in the order of the pages, for a last look."""

from collections.abc import Iterator
from dataclasses import dataclass

from assets import cards
from spec.scheduling import Toleration, TolerationOperator
from spec.workload import (
    DEFAULT_SSH_PATH,
    Architecture,
    CleanPodPolicy,
    Framework,
    LauncherPolicy,
    Replica,
    WorkloadSpec,
)
from workloads.forms.durations import split
from workloads.forms.screen import Screen

Fact = tuple[str, str, str]  # name, value, where it came from
WHICH_PODS = {
    CleanPodPolicy.RUNNING: "Those that still run",
    CleanPodPolicy.ALL: "All",
    CleanPodPolicy.NONE: "None",
}


@dataclass(frozen=True)
class Part:
    title: str
    address: str
    facts: list[Fact]


def of(screen: Screen) -> list[Part]:
    """Empty while the draft is no spec yet: what is missing stands in the summary."""
    made, spec = screen.plan, screen.plan.spec
    parts = [Part("Setup", screen.address(1), list(_setup(screen)))]
    if spec:
        workers = list(_workers(screen, spec))
        parts.append(Part("Workers", screen.address(2), workers))
        if spec.master:
            facts = list(_replica(screen, "master", spec.master))
            parts.append(Part("Master", screen.address(3), facts))
    return parts if made.project else []


def _setup(screen: Screen) -> Iterator[Fact]:
    made, content = screen.plan, screen.content
    yield "Name", content.name, ""
    yield "Project", str(made.project or ""), ""
    yield "Cluster", str(made.cluster or ""), ""
    if content.framework in list(Framework):
        yield "Framework", Framework(content.framework).label, ""
    if content.architecture in list(Architecture):
        yield "Configuration", Architecture(content.architecture).label, ""
    if made.template:
        yield "Template", made.template.name, ""


def _workers(screen: Screen, spec: WorkloadSpec) -> Iterator[Fact]:
    origins = screen.plan.origins
    yield "Number of workers", str(spec.num_workers), _from(origins.get("numWorkers", ""))
    yield from _replica(screen, "worker", spec.worker)
    if spec.is_elastic:
        least, most = spec.min_replicas or spec.num_workers, spec.max_replicas or spec.num_workers
        yield "Elastic workers", f"{least} to {most}", ""
    if spec.node_pools:
        yield "Node pools", ", ".join(spec.node_pools), ""
    yield from ((name, value, _from(origins.get(key, ""))) for name, value, key in _mpi(spec))
    if spec.priority_class:
        yield "Priority", str(spec.priority_class), _from(origins.get("priorityClass", ""))
    if spec.preemptibility:
        yield "Preemptibility", spec.preemptibility.capitalize(), ""
    if topology := spec.topology:
        levels = [f"{topology.required} (required)"] if topology.required else []
        levels += [f"{topology.preferred} (preferred)"] if topology.preferred else []
        yield "Network topology", f"{topology.name}: {', '.join(levels)}", ""
    if spec.clean_pod_policy:
        yield "Pods to delete at the end", WHICH_PODS[spec.clean_pod_policy], ""
    yield "Grace period", _time(spec.termination_grace_period_seconds), ""
    yield "Backoff limit", str(spec.backoff_limit), _from(origins.get("backoffLimit", ""))
    yield "Auto-deletion after", _time(spec.auto_deletion_time_after_completion_seconds), ""


def _mpi(spec: WorkloadSpec) -> Iterator[Fact]:
    """Name, value, and the key of the spec that it is of, where it is not the default."""
    if spec.slots_per_worker > 1:
        yield "Slots per worker", str(spec.slots_per_worker), "slotsPerWorker"
    if spec.mpi_launcher_creation_policy is LauncherPolicy.WAIT_FOR_WORKERS_READY:
        yield "Start of the launcher", "After its workers", "mpiLauncherCreationPolicy"
    if spec.ssh_auth_mount_path != DEFAULT_SSH_PATH:
        yield "SSH auth mount path", spec.ssh_auth_mount_path, "sshAuthMountPath"


def _replica(screen: Screen, role: str, replica: Replica) -> Iterator[Fact]:
    origins = screen.plan.origins

    def origin(key: str) -> str:
        return _from(origins.get(f"{role}.{key}", ""))

    yield "Image", replica.image, origin("image")
    command = " ".join(part for part in (replica.command, replica.args) if part)
    yield "Command", command or "the image’s own", origin("command")
    if replica.environment_variables:
        names = ", ".join(variable.name for variable in replica.environment_variables)
        yield "Environment variables", names, ""
    yield from ((name, value, origin(key)) for name, value, key in _runtime(replica) if value)
    compute = replica.compute
    words = (cards.gpu_words(compute), cards.cpu_words(compute), cards.memory_words(compute))
    yield "Per pod", " · ".join(words), origin("compute")
    if places := ", ".join(path for _, path in replica.storage.places()):
        yield "Volumes and data", places, origin("storage")
    if replica.node_type:
        yield "Node type", replica.node_type, origin("nodeType")
    if near := replica.pod_affinity:
        yield "Pods close together", f"{near.key} ({near.type.lower()})", origin("podAffinity")
    if tolerated := ", ".join(map(_taint, replica.tolerations)):
        yield "Tolerations", tolerated, origin("tolerations")
    for key in ("labels", "annotations"):
        items = ", ".join(f"{item.name}={item.value}" for item in getattr(replica, key))
        if items:
            yield key.title(), items, ""


def _runtime(replica: Replica) -> Iterator[Fact]:
    """Name, value, and the key of the spec that it is of."""
    yield "Working directory", replica.working_dir or "", "workingDir"
    secrets = ", ".join(secret.name for secret in replica.image_pull_secrets)
    yield "Image pull secrets", secrets, "imagePullSecrets"
    security = replica.security
    ids = (
        ("UID", security.run_as_uid),
        ("GID", security.run_as_gid),
        ("groups", security.supplemental_groups or None),
    )
    given = ", ".join(f"{name} {value}" for name, value in ids if value is not None)
    yield "Runs as", given, "security"
    yield "Linux capabilities", ", ".join(security.capabilities), "security"
    probes = replica.probes
    for name, probe in (
        ("Ready when it answers", probes.readiness),
        ("Restarted unless it answers", probes.liveness),
        ("Started when it answers", probes.startup),
    ):
        if probe:
            get = probe.handler.http_get
            yield name, f"{get.scheme} on port {get.port}, {get.path}", "probes"


def _taint(toleration: Toleration) -> str:
    """As kubectl writes it; one that is there with any value by its key alone."""
    equal = toleration.operator is TolerationOperator.EQUAL
    return toleration.key + (f"={toleration.value or ''}" if equal else "")


def _from(origin: str) -> str:
    return "" if origin in {"", "user"} else f"from {origin}"


def _time(seconds: int) -> str:
    return " ".join(split(seconds))
