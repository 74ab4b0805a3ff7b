"""Where pods may run and before whom, as ``spec.scheduling`` has it."""

from dataclasses import replace

from spec.scheduling import Effect, Preemptibility, Strictness
from spec.workload import LauncherPolicy
from workloads.forms.kinds import WORKERS, Cell, Field, Kind, Option, Part

SCHEDULING = "scheduling"
SIZE = "size"


def _options(first: str, *more: str) -> tuple[Option, ...]:
    return (("", first), *((value, value) for value in more))


EFFECTS = (Effect.NO_SCHEDULE, Effect.NO_EXECUTE, Effect.PREFER_NO_SCHEDULE)
TOLERATION = (
    Cell("key", "Key", required=True, placeholder="nvidia.com/gpu"),
    Cell("operator", "Operator", Part.SELECT, options=_options("Equal", "Exists")),
    Cell("value", "Value", placeholder="empty"),
    Cell("effect", "Effect", Part.SELECT, options=_options("Any", *EFFECTS)),
    Cell("seconds", "Toleration seconds", Part.WHOLE, placeholder="for ever"),
)
POOL = (
    Cell("", "Node pool", Part.SELECT, options=(("", "Select a node pool"),), choices="node_pools"),
)


#: What only some frameworks ask beside the number of workers.
SIZE_FIELDS = (
    Field(
        "minReplicas",
        "Minimum workers",
        WORKERS,
        Kind.WHOLE,
        section=SIZE,
        framework="PyTorch",
        hint="Elastic training goes on with so many; empty: it needs all.",
    ),
    Field(
        "maxReplicas",
        "Maximum workers",
        WORKERS,
        Kind.WHOLE,
        section=SIZE,
        framework="PyTorch",
        hint="Elastic training grows up to so many; empty: it never has more.",
    ),
    Field(
        "slotsPerWorker",
        "Slots per worker",
        WORKERS,
        Kind.WHOLE,
        section=SIZE,
        framework="MPI",
        placeholder="1",
        hint="Processes that the launcher starts on each worker. Empty is 1.",
    ),
    Field(
        "mpiLauncherCreationPolicy",
        "Start of the launcher",
        WORKERS,
        Kind.SELECT,
        section=SIZE,
        framework="MPI",
        options=(
            ("", "At once"),
            (LauncherPolicy.WAIT_FOR_WORKERS_READY, "After its workers"),
        ),
        hint="mpirun needs workers that are ready and answer by ssh.",
    ),
)


OF_A_REPLICA = (
    Field(
        "tolerations",
        "Tolerations",
        WORKERS,
        Kind.ITEMS,
        "worker",
        "Taints of nodes that do not keep the pods away.",
        section=SCHEDULING,
        add="TOLERATION",
        cells=TOLERATION,
    ),
    Field(
        "podAffinity.type",
        "Pods close together",
        WORKERS,
        Kind.SELECT,
        "worker",
        "Whether all pods must, or should, run where one label of the nodes is the same.",
        section=SCHEDULING,
        options=_options("Anywhere", Strictness.REQUIRED, Strictness.PREFERRED),
    ),
    Field(
        "podAffinity.key",
        "Label of the nodes",
        WORKERS,
        Kind.TEXT,
        "worker",
        section=SCHEDULING,
        placeholder="topology.kubernetes.io/zone",
    ),
    Field(
        "nodeType",
        "Node type",
        WORKERS,
        Kind.TEXT,
        "worker",
        "Only nodes with this value of the label run.ai/type.",
        section=SCHEDULING,
    ),
)


WHOLE_FIELDS = (
    Field(
        "nodePools",
        "Node pools",
        WORKERS,
        Kind.ITEMS,
        hint="The first is tried first. Without one, any node may be taken.",
        section=SCHEDULING,
        add="NODE POOL",
        cells=POOL,
        ordered=True,
    ),
    Field(
        "priorityClass",
        "Priority",
        WORKERS,
        Kind.SELECT,
        hint="Before which other workloads of the project it runs.",
        section=SCHEDULING,
        options=(("", "The cluster’s default"),),
        choices="priority_classes",
    ),
    Field(
        "preemptibility",
        "Preemptibility",
        WORKERS,
        Kind.SELECT,
        hint="Non-preemptible workloads stay within the quota, and run to their end.",
        section=SCHEDULING,
        options=(
            ("", "The default"),
            (Preemptibility.PREEMPTIBLE, "Preemptible"),
            (Preemptibility.NON_PREEMPTIBLE, "Non-preemptible"),
        ),
    ),
    Field("topology.name", "Network topology", WORKERS, Kind.TEXT, section=SCHEDULING),
    Field(
        "topology.required",
        "Required level",
        WORKERS,
        Kind.TEXT,
        section=SCHEDULING,
        placeholder="cloud.example.com/rack",
    ),
    Field("topology.preferred", "Preferred level", WORKERS, Kind.TEXT, section=SCHEDULING),
)


def replica_fields(role: str, page: int) -> tuple[Field, ...]:
    return tuple(replace(field, role=role, page=page) for field in OF_A_REPLICA)
