"""Table of flags, and the field of the request that each sets. Names are Run:ai's: first the long
one that help and command lines show, then those of its first command line."""

from dataclasses import dataclass, replace
from functools import cached_property

from trainyard_cli.flags import items
from trainyard_cli.flags.items import CLAIMS
from trainyard_cli.flags.personal_credentials import KEY_OF_CREDENTIAL, PULL_CREDENTIAL
from trainyard_cli.flags.values import (
    DURATION_KIND,
    GPUS,
    INTEGER,
    NUMBER,
    PAIRS,
    POD_FIELDS,
    QUANTITIES,
    QUANTITY,
    SWITCH,
    TEXT,
    TEXTS,
    VARIABLES,
    ValueKind,
    affinity_kind,
    kind_by_name,
    variable_kind,
)

GANG = "gang"
PYTORCH = "PyTorch"
MPI = "MPI"
WORKSPACE = "workspace"
VARIABLE_PATH = "environmentVariables"
ARGS = "args"
COMMAND = "command"
NO_MASTER = "noMaster"


@dataclass(frozen=True)
class CliFlag:
    """One flag. ``path`` is dotted, below ``spec`` of the request: a field of its pods, or with
    ``is_for_workload`` of the workload. With ``has_master_flag``, a second flag sets it for the
    master only. ``only`` names the workloads that have the flag: gangs, those of a framework, or
    workspaces."""

    names: str
    path: str
    kind: ValueKind
    help: str
    panel: str
    is_for_workload: bool = False
    has_master_flag: bool = False
    only: str = ""

    @property
    def all_names(self) -> list[str]:
        return self.names.split()

    @cached_property
    def name(self) -> str:
        return next(it for it in self.all_names if it.startswith("--"))

    @cached_property
    def key(self) -> str:
        return self.name[2:].replace("-", "_")

    @property
    def master_names(self) -> list[str]:
        return [f"--master-{it[2:]}" for it in self.all_names if it.startswith("--")]


def _in_panel(panel: str, *rows: CliFlag) -> tuple[CliFlag, ...]:
    return tuple(replace(row, panel=panel) for row in rows)


def _pod_flag(
    names: str, path: str, kind: ValueKind, text: str, *, master: bool = False
) -> CliFlag:
    return CliFlag(names, path, kind, text, "", has_master_flag=master)


def _workload_flag(names: str, path: str, kind: ValueKind, text: str, *, only: str = "") -> CliFlag:
    return CliFlag(names, path, kind, text, "", is_for_workload=True, only=only)


GIB = "such as 4G or 512Mi"
TOPOLOGY_KEY = "The pods {} share one value of this node label."
WORKERS = _in_panel(
    "Workers",
    _workload_flag("--workers", "numWorkers", INTEGER, "Number of workers.", only=GANG),
    _workload_flag(
        "--min-replicas --min-workers",
        "minReplicas",
        INTEGER,
        "Fewest workers to train on with.",
        only=PYTORCH,
    ),
    _workload_flag(
        "--max-replicas --max-workers", "maxReplicas", INTEGER, "Most workers.", only=PYTORCH
    ),
    _workload_flag(
        "--processes-per-pod",
        "processesPerPod",
        INTEGER,
        "Processes that torchrun starts in each pod.",
        only=PYTORCH,
    ),
    _workload_flag(
        "--slots-per-worker", "slotsPerWorker", INTEGER, "Slots of each worker.", only=MPI
    ),
    _workload_flag(
        "--ssh-auth-mount-path", "sshAuthMountPath", TEXT, "Folder of the SSH keys.", only=MPI
    ),
    _workload_flag(
        "--mpi-launcher-creation-policy",
        "mpiLauncherCreationPolicy",
        TEXT,
        "AtStartup or WaitForWorkersReady.",
        only=MPI,
    ),
    _workload_flag(
        "--clean-pod-policy", "cleanPodPolicy", TEXT, "Running, All or None.", only=GANG
    ),
)
COMPUTE = _in_panel(
    "Compute",
    _pod_flag(
        "--gpu-devices-request --gpu -g",
        "compute.gpuDevicesRequest",
        GPUS,
        "GPUs of each pod; a part of one, such as 0.5, too.",
        master=True,
    ),
    _pod_flag(
        "--gpu-request-type", "compute.gpuRequestType", TEXT, "portion or memory.", master=True
    ),
    _pod_flag(
        "--gpu-portion-request",
        "compute.gpuPortionRequest",
        NUMBER,
        "Part of a GPU, 0 to 1.",
        master=True,
    ),
    _pod_flag("--gpu-portion-limit", "compute.gpuPortionLimit", NUMBER, "Its limit.", master=True),
    _pod_flag(
        "--gpu-memory-request --gpu-memory",
        "compute.gpuMemoryRequest",
        QUANTITY,
        f"Memory of a GPU, {GIB}.",
        master=True,
    ),
    _pod_flag("--gpu-memory-limit", "compute.gpuMemoryLimit", QUANTITY, "Its limit.", master=True),
    _pod_flag(
        "--cpu-core-request --cpu", "compute.cpuCoreRequest", NUMBER, "CPU cores.", master=True
    ),
    _pod_flag(
        "--cpu-core-limit --cpu-limit", "compute.cpuCoreLimit", NUMBER, "Its limit.", master=True
    ),
    _pod_flag(
        "--cpu-memory-request --memory",
        "compute.cpuMemoryRequest",
        QUANTITY,
        f"Memory, {GIB}.",
        master=True,
    ),
    _pod_flag(
        "--cpu-memory-limit --memory-limit",
        "compute.cpuMemoryLimit",
        QUANTITY,
        "Its limit.",
        master=True,
    ),
    _pod_flag("--large-shm", "compute.largeShmRequest", SWITCH, "A large /dev/shm.", master=True),
    _pod_flag(
        "--extended-resource", "compute.extendedResources", QUANTITIES, "A device.", master=True
    ),
)
CONTAINER = _in_panel(
    "Container",
    _pod_flag("--image -i", "image", TEXT, "Image URL.", master=True),
    _pod_flag("--image-pull-policy", "imagePullPolicy", TEXT, "Always, IfNotPresent or Never."),
    _pod_flag(
        "--image-pull-secret", "imagePullSecrets", kind_by_name(), "A Secret of the namespace."
    ),
    _pod_flag(
        "--image-pull-credential --image-pull-my-credentials",
        "imagePullSecrets",
        PULL_CREDENTIAL,
        "A registry credential.",
    ),
    _pod_flag(
        "--args", ARGS, TEXT, "Arguments as one text; those after -- need no quotes.", master=True
    ),
    _workload_flag(
        "--setup", "setup", TEXTS, "A line for the shell before the command; may be repeated."
    ),
    _workload_flag(
        "--batch-script",
        "batchScript",
        TEXT,
        "A batch script of Slurm, which runs as it stands.",
        only=GANG,
    ),
    _pod_flag("--working-dir", "workingDir", TEXT, "Working directory.", master=True),
    _pod_flag(
        "--environment-variable --environment -e",
        VARIABLE_PATH,
        VARIABLES,
        "A variable. NAME alone takes its value from this shell.",
        master=True,
    ),
    _pod_flag("--env-secret", VARIABLE_PATH, variable_kind("secret"), "From a key of a Secret."),
    _pod_flag(
        "--env-config-map", VARIABLE_PATH, variable_kind("configMap"), "From a key of a ConfigMap."
    ),
    _pod_flag(
        "--env-credential --env-my-credentials",
        VARIABLE_PATH,
        KEY_OF_CREDENTIAL,
        "From a key of a credential.",
    ),
    _pod_flag("--env-pod-field-ref", VARIABLE_PATH, POD_FIELDS, "From a field of the pod."),
    _pod_flag("--create-home-dir", "createHomeDir", SWITCH, "A home directory of the user."),
    _pod_flag("--stdin", "stdin", SWITCH, "Keep standard input open."),
    _pod_flag("--tty -t", "tty", SWITCH, "A terminal; needs --stdin."),
    _pod_flag("--label -l", "labels", PAIRS, "A label of the pods."),
    _pod_flag("--annotation -a", "annotations", PAIRS, "An annotation of the pods."),
    _workload_flag(
        "--job-form", "jobForm", TEXT, "Operator, Indexed or PerRank: what runs it.", only=GANG
    ),
    _workload_flag("--job-label", "jobLabels", PAIRS, "A label of the job, not of its pods."),
    _workload_flag("--job-annotation", "jobAnnotations", PAIRS, "An annotation of the job."),
)
SECURITY = _in_panel(
    "Security",
    _pod_flag(
        "--user-group-source",
        "security.uidGidSource",
        TEXT,
        "fromTheImage, fromIdpToken, or custom, which the next three imply.",
    ),
    _pod_flag("--run-as-uid", "security.runAsUid", INTEGER, "User ID."),
    _pod_flag("--run-as-gid --run-as-group", "security.runAsGid", INTEGER, "Group ID."),
    _pod_flag("--supplemental-groups", "security.supplementalGroups", TEXT, "Such as 10,11."),
    _pod_flag("--run-as-non-root", "security.runAsNonRoot", SWITCH, "Refuse to run as root."),
    _pod_flag(
        "--allow-privilege-escalation",
        "security.allowPrivilegeEscalation",
        SWITCH,
        "Let programs gain rights.",
    ),
    _pod_flag(
        "--read-only-root-filesystem",
        "security.readOnlyRootFilesystem",
        SWITCH,
        "Only volumes can be written.",
    ),
    _pod_flag(
        "--capability --add-capability", "security.capabilities", TEXTS, "Such as SYS_PTRACE."
    ),
    _pod_flag(
        "--seccomp-profile", "security.seccompProfileType", TEXT, "RuntimeDefault or Unconfined."
    ),
    _pod_flag("--host-ipc", "security.hostIpc", SWITCH, "The node's IPC namespace."),
    _pod_flag("--host-network", "security.hostNetwork", SWITCH, "The node's network."),
)
STORAGE = _in_panel(
    "Storage",
    _pod_flag("--existing-pvc --pvc-exists", "storage.pvc", items.EXISTING_PVC.kind(), "A PVC."),
    _pod_flag("--new-pvc --pvc-new", "storage.pvc", CLAIMS, "A PVC that is created."),
    _pod_flag("--nfs", "storage.nfs", items.NFS.kind(), "An NFS share."),
    _pod_flag("--host-path", "storage.hostPath", items.HOST_PATH.kind(), "A folder of the node."),
    _pod_flag("--git-sync", "storage.git", items.GIT.kind(), "A repository, cloned."),
    _pod_flag("--s3", "storage.s3", items.S3.kind(), "A bucket, copied."),
    _pod_flag(
        "--configmap-map-volume --configmap-volume",
        "storage.configMapVolume",
        items.CONFIG_MAP.kind(),
        "A ConfigMap.",
    ),
    _pod_flag("--secret-volume", "storage.secretVolume", items.SECRET.kind(), "A Secret."),
    _pod_flag(
        "--empty-dir-volume", "storage.emptyDirVolume", items.EMPTY_DIR.kind(), "A scratch folder."
    ),
)
NETWORK = _in_panel(
    "Network",
    _pod_flag("--external-url", "exposedUrls", items.EXTERNAL_URL.kind(), "A tool with a URL."),
    _pod_flag("--port", "ports", items.PORT.kind(), "A port that is reachable from outside."),
    _workload_flag(
        "--related-url", "relatedUrls", items.RELATED_URL.kind(), "A page that belongs to it."
    ),
)
SCHEDULING = _in_panel(
    "Scheduling",
    _workload_flag("--node-pools --node-pool", "nodePools", TEXTS, "Node pools, the best first."),
    _pod_flag("--node-type", "nodeType", TEXT, "Type of the nodes."),
    _pod_flag("--toleration", "tolerations", items.TOLERATION.kind(), "A taint that is tolerated."),
    _pod_flag(
        "--required-pod-topology-key",
        "podAffinity",
        affinity_kind("Required"),
        TOPOLOGY_KEY.format("must"),
    ),
    _pod_flag(
        "--preferred-pod-topology-key",
        "podAffinity",
        affinity_kind("Preferred"),
        TOPOLOGY_KEY.format("should"),
    ),
    _workload_flag("--queue", "queue", TEXT, "LocalQueue of Kueue that starts it."),
    _workload_flag("--topology", "topology", items.TOPOLOGY.kind(many=False), "A topology of KAI."),
    _workload_flag("--priority", "priorityClass", TEXT, "very-low to very-high."),
    _workload_flag(
        "--preemptibility",
        "preemptibility",
        TEXT,
        "preemptible, non-preemptible or semi-preemptible.",
    ),
    _workload_flag("--category", "category", TEXT, "What it is for, in a word."),
)
LIFECYCLE = _in_panel(
    "Life cycle",
    _pod_flag(
        "--restart-policy", "restartPolicy", TEXT, "Always, Never or OnFailure.", master=True
    ),
    _workload_flag(
        "--backoff-limit --backoffLimit", "backoffLimit", INTEGER, "How often it is started again."
    ),
    _workload_flag("--time-limit", "timeLimitSeconds", DURATION_KIND, "Longest time running."),
    _workload_flag(
        "--idle-limit", "idleLimitSeconds", DURATION_KIND, "Longest time unused.", only=WORKSPACE
    ),
    _workload_flag(
        "--termination-grace-period",
        "terminationGracePeriodSeconds",
        DURATION_KIND,
        "Time to end after a stop.",
    ),
    _workload_flag(
        "--auto-deletion-time-after-completion --ttl-after-finish",
        "autoDeletionTimeAfterCompletionSeconds",
        DURATION_KIND,
        "Deleted so long after its end.",
    ),
    _workload_flag(
        "--terminate-after-preemption",
        "terminateAfterPreemption",
        SWITCH,
        "Preempted, it ends.",
    ),
)
FLAGS = WORKERS + COMPUTE + CONTAINER + SECURITY + STORAGE + NETWORK + SCHEDULING + LIFECYCLE
MASTER_FLAGS = tuple(flag for flag in FLAGS if flag.has_master_flag)
#: Fields of the workload as a whole. All others in a request's ``spec`` are of its pods.
WORKLOAD_KEYS = frozenset(
    {"distributedFramework"} | {it.path for it in FLAGS if it.is_for_workload}
)
