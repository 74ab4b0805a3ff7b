"""Finds what this engine cannot provide, so that it is refused instead of left out."""

from collections.abc import Iterator

from engines.base import Launch, Site
from engines.shared.unsupported import (
    ELSEWHERE,
    Complaint,
    connection_complaints,
    of_variable,
    probe_complaints,
    queue_complaints,
    restart_complaints,
)
from engines.slurm.script import as_written
from engines.slurm.script.rank import containers, volumes
from engines.slurm.script.rank.variables import FIELDS, RENDEZVOUS, WITHOUT_ROLES
from engines.slurm.script.rank.words import is_name
from engines.slurm.script.shape import has_launcher
from engines.slurm.script.site import FEATURE, PARTITION, SlurmSite
from spec.data.storage import Pvc, Storage
from spec.parts.environment import Security
from spec.parts.scheduling import DEFAULT_POOL, PriorityClass
from spec.problems.errors import Problem, parse_path
from spec.workload import Replica, WorkloadSpec

NO_NFS = "nodes mount what their administrators mount; use the path that it has there"
NO_SECRETS = "Slurm has no Secrets; choose a credential that has the values"
NO_CONFIG_MAPS = "Slurm has no ConfigMaps; give its files instead"
NO_CLASSES = "Slurm has no storage classes; claims are folders of the shared directory"
NO_DEVICES = "Slurm has no block devices to give"
NO_MOUNTS_HERE = (
    "the ranks of MPI launchers and batch scripts see the files of their nodes; keep files on the "
    "shared directory, at the path that it has there"
)
OWN_CLAIMS = (
    "jobs run under people's own names here, so the claims of a project would belong to one of them"
)


def complaints(launch: Launch, site: SlurmSite) -> Iterator[Problem]:
    """Yield everything in the spec that cannot be provided, by its path."""
    spec = launch.spec
    yield from as_written.complaints(spec)
    for place, message in (*_workload_complaints(launch), *containers.complaints(launch, site)):
        yield Problem(parse_path(place), message)
    for role in spec.described_roles:
        for place, message in _replica_complaints(role.replica, spec, site):
            yield Problem(parse_path(f"{role.path}.{place}"), f"{message}{ELSEWHERE}")
    for named in spec.gang_roles if spec.roles else ():
        if named.replica.command is None:
            message = _explain_missing_command(named.replica)
            yield Problem(parse_path(f"{named.path}.command"), message)
    if spec.roles:
        return
    if spec.master and spec.master.command is None:
        yield Problem(parse_path("master.command"), _explain_missing_command(spec.master))
    if spec.worker.command is None and not (has_launcher(spec) and spec.master):
        yield Problem(parse_path("worker.command"), _explain_missing_command(spec.worker))


def _explain_missing_command(replica: Replica) -> str:
    if replica.image:
        return (
            f"Slurm does not know what the image {replica.image} starts; enter a "
            "command, such as python train.py"
        )
    return "enter a command, such as python train.py"


def _workload_complaints(launch: Launch) -> Iterator[Complaint]:
    spec = launch.spec
    framework = spec.distributed_framework
    if framework and framework not in RENDEZVOUS:
        label = framework.label
        yield "distributedFramework", f"Trainyard does not start {label} on Slurm yet{ELSEWHERE}"
    if spec.roles and framework in WITHOUT_ROLES:
        text = f"Trainyard starts {framework.label} on Slurm with a chief and workers only"
        yield "roles", f"{text}{ELSEWHERE}"
    if spec.is_elastic:
        field = "minReplicas" if spec.min_replicas is not None else "maxReplicas"
        yield field, f"the ranks of a Slurm job start and end together{ELSEWHERE}"
    yield from _pool_complaints(launch)
    for field, message in queue_complaints(spec, "on Slurm"):
        yield field, f"{message}{ELSEWHERE}"
    if spec.topology:
        yield "topology", f"Slurm places jobs by its own topology{ELSEWHERE}"
    if spec.priority_class and spec.priority_class not in launch.site.priority_classes:
        yield "priorityClass", _explain_priority(spec.priority_class, launch.site)
    if spec.preemptibility:
        text = "on Slurm the QOS and the partition say who is preempted"
        yield "preemptibility", f"{text}{ELSEWHERE}"
    if spec.terminate_after_preemption:
        yield "terminateAfterPreemption", f"Slurm queues preempted jobs again{ELSEWHERE}"
    yield from _launcher_complaints(spec)


def _explain_priority(priority: PriorityClass, site: Site) -> str:
    name = str(priority)
    if set(PriorityClass) & set(site.priority_classes):
        return (
            f"the cluster has no QOS {name!r} for Trainyard's user; its administrator can add it "
            "with sacctmgr"
        )
    return (
        f"the cluster has no QOS from {PriorityClass.VERY_LOW} to {PriorityClass.VERY_HIGH} for "
        f"Trainyard's user; its administrator can add {name!r} with sacctmgr"
    )


def _pool_complaints(launch: Launch) -> Iterator[Complaint]:
    pools = launch.site.pools
    for name in launch.spec.node_pools:
        if name == DEFAULT_POOL:
            continue
        if name not in pools:
            listed = ", ".join([*pools, DEFAULT_POOL])
            yield "nodePools", f"the cluster has no node pool {name!r}; it has {listed}"
        elif not pools[name][0].startswith((PARTITION, FEATURE)):
            key = pools[name][0]
            text = (
                f"the node pool {name} goes by the label {key}; on Slurm a pool is a partition "
                f"({PARTITION}NAME) or a feature ({FEATURE}NAME)"
            )
            yield "nodePools", text


def _launcher_complaints(spec: WorkloadSpec) -> Iterator[Complaint]:
    """Yield complaints about MPI, whose launcher has no resources of its own and starts the workers
    itself."""
    if not has_launcher(spec):
        return
    worker = spec.worker
    master = spec.master
    slots = spec.slots_per_worker
    if worker.compute.gpu_devices_request % slots:
        text = f"the {slots} slots of a worker share its GPUs evenly; ask for a multiple of {slots}"
        yield "worker.compute.gpuDevicesRequest", text
    if master and master.compute.gpu_devices_request:
        text = "the launcher runs on the node of the first worker and has no GPU of its own"
        yield "master.compute.gpuDevicesRequest", f"{text}{ELSEWHERE}"
    if master and worker.command and "sshd" not in worker.command:
        text = "the launcher starts the workers by mpirun or srun; leave their command out"
        yield "worker.command", text
    if not spec.has_master:
        yield "architecture", "an MPI workload on Slurm has a launcher; choose workers & master"


def _replica_complaints(
    replica: Replica, spec: WorkloadSpec, site: SlurmSite
) -> Iterator[Complaint]:
    compute = replica.compute
    if compute.gpu_request_type:
        yield "compute.gpuRequestType", "Slurm gives whole GPUs"
    if compute.extended_resources:
        yield "compute.extendedResources", "Trainyard asks Slurm for CPU, memory and GPUs only"
    yield from restart_complaints(replica, spec)
    yield from probe_complaints(replica, "Slurm has no probes")
    yield from storage_complaints(replica.storage, site)
    if (has_launcher(spec) or spec.batch_script) and (place := _first_mount(replica.storage)):
        yield place, NO_MOUNTS_HERE
    if replica.node_affinity_required:
        yield "nodeAffinityRequired", "Slurm knows features of nodes; choose a node type"
    if replica.pod_affinity:
        yield "podAffinity", "Slurm places ranks itself"
    if replica.stdin or replica.tty:
        yield "tty" if replica.tty else "stdin", "a rank on Slurm has no terminal of its own"
    if replica.security != Security():
        yield "security", "ranks run as the user that Trainyard is on the cluster"
    yield from _variable_complaints(replica)
    yield from connection_complaints(replica, "on Slurm")


def storage_complaints(storage: Storage, site: SlurmSite) -> Iterator[Complaint]:
    """Yield complaints about storage that ranks on Slurm cannot have."""
    for number, claim in enumerate(storage.pvc):
        yield from _claim_complaints(f"storage.pvc[{number}]", claim, site)
    if storage.nfs:
        yield "storage.nfs", NO_NFS
    for number, config_map in enumerate(storage.config_map_volume):
        if config_map.config_map:
            yield f"storage.configMapVolume[{number}].configMap", NO_CONFIG_MAPS
    for number, secret in enumerate(storage.secret_volume):
        if secret.secret:
            yield f"storage.secretVolume[{number}].secret", NO_SECRETS
    for number, git in enumerate(storage.git):
        if git.secret_ref:
            yield f"storage.git[{number}].secretRef", NO_SECRETS
    for number, bucket in enumerate(storage.s3):
        if bucket.access_key_secret:
            yield f"storage.s3[{number}].accessKeySecret", NO_SECRETS


def _claim_complaints(field: str, claim: Pvc, site: SlurmSite) -> Iterator[Complaint]:
    info = claim.claim_info
    if claim.is_block:
        yield f"{field}.claimInfo.volumeMode", NO_DEVICES
    if info and info.storage_class and not info.without_class:
        yield f"{field}.claimInfo.storageClass", NO_CLASSES
    if claim.claim_name and site.own_names:
        yield f"{field}.claimName", OWN_CLAIMS


def _first_mount(storage: Storage) -> str:
    """Return the place of the first volume that needs a mount; empty without any."""
    lists = {
        "pvc": storage.pvc,
        "hostPath": tuple(filter(volumes.is_elsewhere, storage.host_path)),
        "configMapVolume": storage.config_map_volume,
        "secretVolume": storage.secret_volume,
        "emptyDirVolume": storage.empty_dir_volume,
    }
    return next((f"storage.{name}" for name, items in lists.items() if items), "")


def _variable_complaints(replica: Replica) -> Iterator[Complaint]:
    for index, variable in enumerate(replica.environment_variables):
        place = f"environmentVariables[{index}]"
        if not is_name(variable.name):
            yield f"{place}.name", f"a shell has no variable named {variable.name}"
        yield from of_variable(place, variable, FIELDS)
