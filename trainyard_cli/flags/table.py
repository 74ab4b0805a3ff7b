"""Table of flags, and the field of the request that each sets. Names are Run:ai's: first the long
one that help and command lines show, then those of its first command line."""

from dataclasses import dataclass, replace
from functools import cached_property

from trainyard_cli.flags import items
from trainyard_cli.flags.items import CLAIMS
from trainyard_cli.flags.mine import KEY_OF_CREDENTIAL, PULL_CREDENTIAL
from trainyard_cli.flags.values import (
    DURATION_KIND,
    GPUS,
    NUMBER,
    PAIRS,
    POD_FIELDS,
    QUANTITIES,
    QUANTITY,
    SWITCH,
    TEXT,
    TEXTS,
    VARIABLES,
    WHOLE,
    ValueKind,
    from_key,
    keyed,
    named,
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
    """One flag. ``path`` is dotted, below ``spec`` of the request: a field of its pods, or of the
    workload if ``whole``. With ``master``, a second flag sets it for the master only. ``only``
    names the workloads that have the flag: gangs, those of a framework, or workspaces."""

    names: str
    path: str
    kind: ValueKind
    help: str
    panel: str
    whole: bool = False
    master: bool = False
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


def _of(panel: str, *rows: CliFlag) -> tuple[CliFlag, ...]:
    return tuple(replace(row, panel=panel) for row in rows)


def _pod(names: str, path: str, kind: ValueKind, text: str, *, master: bool = False) -> CliFlag:
    return CliFlag(names, path, kind, text, "", master=master)


def _whole(names: str, path: str, kind: ValueKind, text: str, *, only: str = "") -> CliFlag:
    return CliFlag(names, path, kind, text, "", whole=True, only=only)


GIB = "such as 4G or 512Mi"
TOPOLOGY_KEY = "The pods {} share one value of this node label."
WORKERS = _of(
    "Workers",
    _whole("--workers", "numWorkers", WHOLE, "Number of workers.", only=GANG),
    _whole(
        "--min-replicas", "minReplicas", WHOLE, "Fewest workers to train on with.", only=PYTORCH
    ),
    _whole("--max-replicas", "maxReplicas", WHOLE, "Most workers.", only=PYTORCH),
    _whole(
        "--processes-per-pod",
        "processesPerPod",
        WHOLE,
        "Processes that torchrun starts in each pod.",
        only=PYTORCH,
    ),
    _whole("--slots-per-worker", "slotsPerWorker", WHOLE, "Slots of each worker.", only=MPI),
    _whole("--ssh-auth-mount-path", "sshAuthMountPath", TEXT, "Folder of the SSH keys.", only=MPI),
    _whole(
        "--mpi-launcher-creation-policy",
        "mpiLauncherCreationPolicy",
        TEXT,
        "AtStartup or WaitForWorkersReady.",
        only=MPI,
    ),
    _whole("--clean-pod-policy", "cleanPodPolicy", TEXT, "Running, All or None.", only=GANG),
)
COMPUTE = _of(
    "Compute",
    _pod(
        "--gpu-devices-request --gpu -g",
        "compute.gpuDevicesRequest",
        GPUS,
        "GPUs of each pod; a part of one, such as 0.5, too.",
        master=True,
    ),
    _pod("--gpu-request-type", "compute.gpuRequestType", TEXT, "portion or memory.", master=True),
    _pod(
        "--gpu-portion-request",
        "compute.gpuPortionRequest",
        NUMBER,
        "Part of a GPU, 0 to 1.",
        master=True,
    ),
    _pod("--gpu-portion-limit", "compute.gpuPortionLimit", NUMBER, "Its limit.", master=True),
    _pod(
        "--gpu-memory-request --gpu-memory",
        "compute.gpuMemoryRequest",
        QUANTITY,
        f"Memory of a GPU, {GIB}.",
        master=True,
    ),
    _pod("--gpu-memory-limit", "compute.gpuMemoryLimit", QUANTITY, "Its limit.", master=True),
    _pod("--cpu-core-request --cpu", "compute.cpuCoreRequest", NUMBER, "CPU cores.", master=True),
    _pod("--cpu-core-limit --cpu-limit", "compute.cpuCoreLimit", NUMBER, "Its limit.", master=True),
    _pod(
        "--cpu-memory-request --memory",
        "compute.cpuMemoryRequest",
        QUANTITY,
        f"Memory, {GIB}.",
        master=True,
    ),
    _pod(
        "--cpu-memory-limit --memory-limit",
        "compute.cpuMemoryLimit",
        QUANTITY,
        "Its limit.",
        master=True,
    ),
    _pod("--large-shm", "compute.largeShmRequest", SWITCH, "A large /dev/shm.", master=True),
    _pod("--extended-resource", "compute.extendedResources", QUANTITIES, "A device.", master=True),
)
CONTAINER = _of(
    "Container",
    _pod("--image -i", "image", TEXT, "Image URL.", master=True),
    _pod("--image-pull-policy", "imagePullPolicy", TEXT, "Always, IfNotPresent or Never."),
    _pod("--image-pull-secret", "imagePullSecrets", named(), "A Secret of the namespace."),
    _pod(
        "--image-pull-credential --image-pull-my-credentials",
        "imagePullSecrets",
        PULL_CREDENTIAL,
        "A registry credential.",
    ),
    _pod(
        "--args", ARGS, TEXT, "Arguments as one text; those after -- need no quotes.", master=True
    ),
    _whole("--setup", "setup", TEXTS, "A line for the shell before the command; may be repeated."),
    _whole(
        "--batch-script",
        "batchScript",
        TEXT,
        "A batch script of Slurm, which runs as it stands.",
        only=GANG,
    ),
    _pod("--working-dir", "workingDir", TEXT, "Working directory.", master=True),
    _pod(
        "--environment-variable --environment -e",
        VARIABLE_PATH,
        VARIABLES,
        "A variable. NAME alone takes its value from this shell.",
        master=True,
    ),
    _pod("--env-secret", VARIABLE_PATH, from_key("secret"), "From a key of a Secret."),
    _pod("--env-config-map", VARIABLE_PATH, from_key("configMap"), "From a key of a ConfigMap."),
    _pod(
        "--env-credential --env-my-credentials",
        VARIABLE_PATH,
        KEY_OF_CREDENTIAL,
        "From a key of a credential.",
    ),
    _pod("--env-pod-field-ref", VARIABLE_PATH, POD_FIELDS, "From a field of the pod."),
    _pod("--create-home-dir", "createHomeDir", SWITCH, "A home directory of the user."),
    _pod("--stdin", "stdin", SWITCH, "Keep standard input open."),
    _pod("--tty -t", "tty", SWITCH, "A terminal; needs --stdin."),
    _pod("--label -l", "labels", PAIRS, "A label of the pods."),
    _pod("--annotation -a", "annotations", PAIRS, "An annotation of the pods."),
)
SECURITY = _of(
    "Security",
    _pod(
        "--user-group-source",
        "security.uidGidSource",
        TEXT,
        "fromTheImage, fromIdpToken, or custom, which the next three imply.",
    ),
    _pod("--run-as-uid", "security.runAsUid", WHOLE, "User ID."),
    _pod("--run-as-gid", "security.runAsGid", WHOLE, "Group ID."),
    _pod("--supplemental-groups", "security.supplementalGroups", TEXT, "Such as 10,11."),
    _pod("--run-as-non-root", "security.runAsNonRoot", SWITCH, "Refuse to run as root."),
    _pod(
        "--allow-privilege-escalation",
        "security.allowPrivilegeEscalation",
        SWITCH,
        "Let programs gain rights.",
    ),
    _pod(
        "--read-only-root-filesystem",
        "security.readOnlyRootFilesystem",
        SWITCH,
        "Only volumes can be written.",
    ),
    _pod("--capability --add-capability", "security.capabilities", TEXTS, "Such as SYS_PTRACE."),
    _pod("--seccomp-profile", "security.seccompProfileType", TEXT, "RuntimeDefault or Unconfined."),
    _pod("--host-ipc", "security.hostIpc", SWITCH, "The node's IPC namespace."),
    _pod("--host-network", "security.hostNetwork", SWITCH, "The node's network."),
)
STORAGE = _of(
    "Storage",
    _pod("--existing-pvc --pvc-exists", "storage.pvc", items.EXISTING_PVC.kind(), "A PVC."),
    _pod("--new-pvc --pvc-new", "storage.pvc", CLAIMS, "A PVC that is created."),
    _pod("--nfs", "storage.nfs", items.NFS.kind(), "An NFS share."),
    _pod("--host-path", "storage.hostPath", items.HOST_PATH.kind(), "A folder of the node."),
    _pod("--git-sync", "storage.git", items.GIT.kind(), "A repository, cloned."),
    _pod("--s3", "storage.s3", items.S3.kind(), "A bucket, copied."),
    _pod(
        "--configmap-map-volume --configmap-volume",
        "storage.configMapVolume",
        items.CONFIG_MAP.kind(),
        "A ConfigMap.",
    ),
    _pod("--secret-volume", "storage.secretVolume", items.SECRET.kind(), "A Secret."),
    _pod(
        "--empty-dir-volume", "storage.emptyDirVolume", items.EMPTY_DIR.kind(), "A scratch folder."
    ),
)
NETWORK = _of(
    "Network",
    _pod("--external-url", "exposedUrls", items.EXTERNAL_URL.kind(), "A tool with a URL."),
    _pod("--port", "ports", items.PORT.kind(), "A port that is reachable from outside."),
    _whole("--related-url", "relatedUrls", items.RELATED_URL.kind(), "A page that belongs to it."),
)
SCHEDULING = _of(
    "Scheduling",
    _whole("--node-pools", "nodePools", TEXTS, "Node pools, the best first."),
    _pod("--node-type", "nodeType", TEXT, "Type of the nodes."),
    _pod("--toleration", "tolerations", items.TOLERATION.kind(), "A taint that is tolerated."),
    _pod(
        "--required-pod-topology-key",
        "podAffinity",
        keyed("Required"),
        TOPOLOGY_KEY.format("must"),
    ),
    _pod(
        "--preferred-pod-topology-key",
        "podAffinity",
        keyed("Preferred"),
        TOPOLOGY_KEY.format("should"),
    ),
    _whole("--topology", "topology", items.TOPOLOGY.kind(many=False), "A topology of KAI."),
    _whole("--priority", "priorityClass", TEXT, "very-low to very-high."),
    _whole("--preemptibility", "preemptibility", TEXT, "preemptible or non-preemptible."),
    _whole("--category", "category", TEXT, "What it is for, in a word."),
)
LIFECYCLE = _of(
    "Life cycle",
    _pod("--restart-policy", "restartPolicy", TEXT, "Always, Never or OnFailure.", master=True),
    _whole("--backoff-limit", "backoffLimit", WHOLE, "How often it is started again."),
    _whole("--time-limit", "timeLimitSeconds", DURATION_KIND, "Longest time running."),
    _whole(
        "--idle-limit", "idleLimitSeconds", DURATION_KIND, "Longest time unused.", only=WORKSPACE
    ),
    _whole(
        "--termination-grace-period",
        "terminationGracePeriodSeconds",
        DURATION_KIND,
        "Time to end after a stop.",
    ),
    _whole(
        "--auto-deletion-time-after-completion --ttl-after-finish",
        "autoDeletionTimeAfterCompletionSeconds",
        DURATION_KIND,
        "Deleted so long after its end.",
    ),
    _whole(
        "--terminate-after-preemption",
        "terminateAfterPreemption",
        SWITCH,
        "Preempted, it ends.",
    ),
)
FLAGS = WORKERS + COMPUTE + CONTAINER + SECURITY + STORAGE + NETWORK + SCHEDULING + LIFECYCLE
MASTER_FLAGS = tuple(flag for flag in FLAGS if flag.master)
#: Fields of the workload as a whole. All others in a request's ``spec`` are of its pods.
WHOLE_KEYS = frozenset({"distributedFramework"} | {it.path for it in FLAGS if it.whole})
