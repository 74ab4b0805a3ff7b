"""Turn a launch into manifests, by small pure functions that golden files cover."""

from copy import deepcopy

from engines.base import Launch, Manifest, raise_complaints
from engines.kubernetes import labels
from engines.kubernetes.jobs import MPI, PYTORCH, TENSORFLOW, JobKind, job_kind_for
from engines.kubernetes.labels import PROJECT
from engines.kubernetes.manifests import owned_labels
from engines.kubernetes.manifests.pod import scheduling
from engines.kubernetes.manifests.pod.container import container, pod_security
from engines.kubernetes.manifests.pod.env import processes, secret
from engines.kubernetes.manifests.pod.fetchers import Images, fetchers, passwd, ssh_volumes
from engines.kubernetes.manifests.pod.pulls import pull_secret, pull_secrets
from engines.kubernetes.manifests.pod.volumes import claims, mounts
from engines.kubernetes.manifests.tools import tool_objects
from engines.kubernetes.manifests.unsupported import not_provided
from engines.kubernetes.manifests.values import without_empty
from engines.kubernetes.names import job_name, project_namespace
from spec.values.variable import looks_secret
from spec.workload import CleanPodPolicy, Replica, RestartPolicy, Role, WorkloadSpec

IMAGES = Images()
#: Keeps service meshes from adding a container to each pod: it would outlive the program, and keep
#: its pod and devices for ever. A workload that sets one of these decides for itself.
INJECT = "sidecar.istio.io/inject"
MESHES = {INJECT: "false", "linkerd.io/inject": "disabled"}
#: With the host's network, ranks resolve the cluster's names only with this policy.
HOST_DNS = "ClusterFirstWithHostNet"
#: A pod that was evicted, drained or preempted does not count as a failure.
GIVING_WAY = {
    "rules": [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    ]
}


def manifests(
    launch: Launch, *, prefix: str, images: Images = IMAGES, installation: str = ""
) -> list[Manifest]:
    """All objects in the order of creation: the namespace first, the job last. Both carry the mark
    of ``installation``.

    ``EngineRefused`` lists everything that cannot be provided.
    """
    raise_complaints(not_provided(launch))
    kind = job_kind_for(launch.spec)
    space = project_namespace(launch.handle.project, prefix)
    hidden = (secret(launch, space), pull_secret(launch, space))
    return [
        namespace(space, launch.handle.project, installation),
        *filter(None, hidden),
        *claims(launch, space),
        *tool_objects(launch, kind, space),
        job(
            launch,
            kind,
            space,
            images,
            labels_for(launch, prefix) | labels.installation_labels(installation),
        ),
    ]


def namespace(name: str, project: str, installation: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {PROJECT: project} | labels.installation_labels(installation),
        },
    }


def job(
    launch: Launch, kind: JobKind, space: str, images: Images, marks: dict[str, str]
) -> Manifest:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {
            "name": job_name(launch.handle),
            "namespace": space,
            "labels": owned_labels.labels_of_job(launch.spec, kind) | marks,
            "annotations": owned_labels.annotations_of_job(launch.spec, kind)
            | scheduling.annotations(launch)
            | labels.annotations(launch),
        },
        "spec": (plain_spec if kind.is_plain else gang_spec)(launch, kind, images, marks),
    }


def gang_spec(launch: Launch, kind: JobKind, images: Images, marks: dict[str, str]) -> Manifest:
    """The ``spec`` of an operator's job."""
    spec = launch.spec
    roles = {kind.worker: replica(launch, kind, Role.WORKER, images, marks)}
    if spec.has_master:
        roles = {kind.master: replica(launch, kind, Role.MASTER, images, marks), **roles}
    return {"runPolicy": run_policy(spec, kind), **fields_of_kind(spec, kind), kind.replicas: roles}


def plain_spec(launch: Launch, kind: JobKind, images: Images, marks: dict[str, str]) -> Manifest:
    """The ``spec`` of a batch/v1 Job with one pod, which is replaced by a new one up to the backoff
    limit. The server allows a pod failure policy only if the container never restarts in its
    pod."""
    one = replica(launch, kind, Role.WORKER, images, marks)
    policy = one["restartPolicy"]
    template = one["template"]
    never = policy == RestartPolicy.NEVER
    return {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": launch.spec.backoff_limit,
        **({"podFailurePolicy": GIVING_WAY} if never else {}),
        "template": template | {"spec": {"restartPolicy": policy, **template["spec"]}},
    }


def labels_for(launch: Launch, prefix: str) -> dict[str, str]:
    """Labels of the job and its pods."""
    return scheduling.labels(launch, prefix) | labels.labels(launch)


def run_policy(spec: WorkloadSpec, kind: JobKind) -> Manifest:
    """The run policy. A backoff limit of 0 is left out: replicas then never restart, and the
    training operator would delete the failed pod with its exit code and output. The MPI operator
    needs it, or it tries the launcher six times."""
    policy = spec.clean_pod_policy or CleanPodPolicy.RUNNING
    limited = spec.backoff_limit or kind is MPI
    manifest: Manifest = {"cleanPodPolicy": str(policy), "suspend": False}
    return manifest | ({"backoffLimit": spec.backoff_limit} if limited else {})


def fields_of_kind(spec: WorkloadSpec, kind: JobKind) -> Manifest:
    """Fields that only one kind of job has."""
    if kind is PYTORCH:
        return {"nprocPerNode": processes(spec), **elasticity(spec)}
    if kind is MPI:
        policy = spec.mpi_launcher_creation_policy
        return {
            "slotsPerWorker": spec.slots_per_worker,
            "sshAuthMountPath": spec.ssh_auth_mount_path,
            **({"launcherCreationPolicy": str(policy)} if policy else {}),
        }
    if kind is TENSORFLOW and not spec.has_master:
        return {"successPolicy": "AllWorkers"}  # otherwise the others end when worker 0 does
    return {}


def elasticity(spec: WorkloadSpec) -> Manifest:
    """The elastic policy: torchrun runs with any number of workers between the two bounds."""
    if not spec.is_elastic:
        return {}
    policy = {
        "minReplicas": spec.min_replicas or spec.num_workers,
        "maxReplicas": spec.max_replicas or spec.num_workers,
        "maxRestarts": spec.backoff_limit,
        "rdzvBackend": "c10d",
    }
    return {"elasticPolicy": policy}


def replica(
    launch: Launch, kind: JobKind, role: Role, images: Images, marks: dict[str, str]
) -> Manifest:
    spec = launch.spec
    source = (spec.master_replica if role is Role.MASTER else None) or spec.worker
    own = owned_labels.of_pods(source.annotations, kind)
    chosen = owned_labels.of_pods(source.labels, kind)
    alone = not (MESHES.keys() & (own.keys() | chosen.keys()))
    return {
        "replicas": 1 if role is Role.MASTER else spec.num_workers,
        "restartPolicy": restart_policy(spec, kind, source, role),
        "template": {
            "metadata": without_empty(
                {
                    "labels": ({INJECT: "false"} if alone else {}) | chosen | marks,
                    "annotations": (MESHES if alone else {})
                    | own
                    | scheduling.gpu_share(source.compute)
                    | passwd(source),
                }
            ),
            "spec": pod(launch, kind, source, role, images),
        },
    }


def restart_policy(spec: WorkloadSpec, kind: JobKind, source: Replica, role: Role) -> str:
    """The restart policy of a replica. ``OnFailure`` restarts a container after any exit code, up
    to the job's backoff limit; the operator's ``ExitCode`` would treat a plain ``exit 1`` as
    permanent. MPI workers only wait for the launcher, whose restarts alone are counted. A training
    of one pod starts new pods instead, because evictions count as restarts otherwise. A workspace
    restarts in its pod, which keeps the files that somebody edited there."""
    if not spec.backoff_limit or (kind is MPI and role is Role.WORKER):
        return str(RestartPolicy.NEVER)
    starts_new_pods = kind.is_plain and spec.kind.traits.completes
    default = RestartPolicy.NEVER if starts_new_pods else RestartPolicy.ON_FAILURE
    return str(source.restart_policy or default)


def pod(launch: Launch, kind: JobKind, source: Replica, role: Role, images: Images) -> Manifest:
    mounted = mounts(launch, source, role)
    attached = {"volumeMounts": mounted.mounts, "volumeDevices": mounted.devices}
    manifest = without_empty(
        {
            "securityContext": pod_security(source.security),
            "hostIPC": source.security.host_ipc or None,
            "hostNetwork": source.security.host_network or None,
            "dnsPolicy": HOST_DNS if source.security.host_network else None,
            "imagePullSecrets": pull_secrets(launch, source),
            **scheduling.placement(launch, source),
            "volumes": mounted.volumes + ssh_volumes(launch, source, role),
            "initContainers": fetchers(launch, source, role, images),
            "containers": [container(launch, kind, source, role) | without_empty(attached)],
        }
    )
    return {
        "terminationGracePeriodSeconds": launch.spec.termination_grace_period_seconds,
        **manifest,
    }


def mask_secrets(documents: list[Manifest]) -> list[Manifest]:
    """A copy to show to people, without secret values."""
    shown = deepcopy(documents)
    for document in shown:
        if document["kind"] == "Secret":
            document["data"] = dict.fromkeys(document["data"], "***")
        for variable in _env_entries(document):
            if "value" in variable and looks_secret(variable["name"]):
                variable["value"] = "***"
    return shown


def _env_entries(node: object) -> list[Manifest]:
    """All entries of all ``env`` lists within ``node``."""
    if isinstance(node, list):
        return [entry for item in node for entry in _env_entries(item)]
    if not isinstance(node, dict):
        return []
    below = [entry for item in node.values() for entry in _env_entries(item)]
    return [*node.get("env", []), *below]
