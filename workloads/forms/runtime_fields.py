"""How a container is started: as whom, from which registry, and when it counts as ready."""

from dataclasses import replace

from spec.environment import CAPABILITIES
from spec.probes import Scheme
from spec.workload import DEFAULT_SSH_PATH, CleanPodPolicy
from workloads.forms.kinds import WORKERS, Cell, Field, Kind, Part

RUNTIME = "runtime"
READINESS = "readiness"
HTTP_GET = "probes.readiness.handler.httpGet"
LEFT = "Where the environment has custom ones and lets workloads modify them."


def _id(key: str, label: str, kind: Kind, hint: str = "") -> Field:
    return Field(f"security.{key}", label, WORKERS, kind, "worker", hint, section=RUNTIME)


def _probe(key: str, label: str, hint: str = "", *, placeholder: str = "") -> Field:
    """``key`` is below ``probes.readiness``; a number."""
    path = f"probes.readiness.{key}"
    return Field(
        path,
        label,
        WORKERS,
        Kind.WHOLE,
        "worker",
        hint,
        section=READINESS,
        placeholder=placeholder,
    )


OF_A_REPLICA = (
    _id("runAsUid", "User ID (UID)", Kind.WHOLE, LEFT),
    _id("runAsGid", "Group ID (GID)", Kind.WHOLE, LEFT),
    _id("supplementalGroups", "Supplementary groups", Kind.TEXT, "Numbers and commas; as above."),
    Field(
        "imagePullSecrets",
        "Image pull secrets",
        WORKERS,
        Kind.ITEMS,
        "worker",
        "Secrets in the project’s namespace with the password of a registry.",
        section=RUNTIME,
        add="IMAGE PULL SECRET",
        cells=(Cell("name", "Secret", required=True, placeholder="registry"),),
    ),
    Field(
        "security.capabilities",
        "Linux capabilities",
        WORKERS,
        Kind.ITEMS,
        "worker",
        "Instead of those that the environment adds.",
        section=RUNTIME,
        add="CAPABILITY",
        cells=(
            Cell(
                "",
                "Capability",
                Part.SELECT,
                options=(("", "Select a capability"), *((it, it) for it in CAPABILITIES)),
            ),
        ),
    ),
    # First, for it is what a probe cannot do without.
    replace(
        _probe("port", "Port", "Without one, a rank is ready when it runs.", placeholder="8080"),
        key=f"{HTTP_GET}.port",
    ),
    Field(
        f"{HTTP_GET}.path",
        "Path",
        WORKERS,
        Kind.TEXT,
        "worker",
        section=READINESS,
        placeholder="/",
    ),
    Field(
        f"{HTTP_GET}.scheme",
        "Scheme",
        WORKERS,
        Kind.SELECT,
        "worker",
        section=READINESS,
        options=(("", Scheme.HTTP), (Scheme.HTTPS, Scheme.HTTPS)),
    ),
    _probe("initialDelaySeconds", "Initial delay", "Seconds until it is first asked."),
    _probe("periodSeconds", "Period", "Seconds between two questions.", placeholder="10"),
    _probe("timeoutSeconds", "Timeout", "Seconds that an answer may take.", placeholder="1"),
    _probe("successThreshold", "Success threshold", "Good answers until ready.", placeholder="1"),
    _probe("failureThreshold", "Failure threshold", "Bad ones until not ready.", placeholder="3"),
)

OF_THE_WHOLE = (
    Field(
        "cleanPodPolicy",
        "Pods to delete at the end",
        WORKERS,
        Kind.SELECT,
        hint="Finished pods that stay keep their logs on the cluster, too.",
        section=RUNTIME,
        options=(
            ("", "Those that still run"),
            (CleanPodPolicy.ALL, "All"),
            (CleanPodPolicy.NONE, "None"),
        ),
    ),
    Field(
        "sshAuthMountPath",
        "SSH auth mount path",
        WORKERS,
        Kind.TEXT,
        hint="Where the launcher and the workers find their keys.",
        section=RUNTIME,
        framework="MPI",
        placeholder=DEFAULT_SSH_PATH,
    ),
)


def replica_fields(role: str, page: int) -> tuple[Field, ...]:
    return tuple(replace(field, role=role, page=page) for field in OF_A_REPLICA)
