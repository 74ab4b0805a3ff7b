"""Finds out what a Slurm cluster offers to workloads."""

from collections.abc import Iterable, Sequence

from engines.base import Capabilities, FrameworkSupport
from engines.nodes import NodeInfo
from engines.partitions import BillingAccount, Partition, ServiceLevel
from engines.slurm.client import files
from engines.slurm.client.transport import Transport
from engines.slurm.cluster.accounts import LIMITS, parse_accounts, parse_service_levels
from engines.slurm.cluster.lines import group_lines
from engines.slurm.cluster.partitions import parse_partitions
from engines.slurm.queue.commands import answered
from engines.slurm.script.rank.variables import RENDEZVOUS
from spec.framework import Framework
from spec.parts.scheduling import PriorityClass

SHOW = ("scontrol", "--all", "--oneliner", "show")  # hidden partitions, too
ACCOUNTS = r"""
sacctmgr -nP show user "$(id -un)" format=defaultaccount 2>/dev/null | sed 's/^/default /'
sacctmgr -nP show assoc where user= format=account,LIMITS 2>/dev/null | sed 's/^/limit /'
sacctmgr -nP show assoc user="$(id -un)" format=account,qos,LIMITS 2>/dev/null | sed 's/^/own /'
sacctmgr -nP show qos format=name,grptres,maxtresperjob,maxwall 2>/dev/null | sed 's/^/qos /'
""".replace("LIMITS", ",".join(LIMITS))
# pyxis is a plugin: it shows in the options of srun.
FIND_CONTAINERS = r"""
if srun --help 2>/dev/null | grep -q -e --container-image; then echo pyxis; exit; fi
for p in apptainer singularity; do
  if command -v $p > /dev/null; then echo $p; exit; fi
done
"""
PROVIDER = "the programs of the nodes"
UNSUPPORTED = (
    "Trainyard does not start {label} on Slurm yet. Choose PyTorch, or a Kubernetes cluster."
)


def discover(transport: Transport, partitions: Sequence[Partition]) -> Capabilities:
    """Return the capabilities of a cluster with these partitions. A priority is available if
    Trainyard's user may use a QOS with its name."""
    accounts, levels = read_accounts(transport)
    return Capabilities(
        frameworks=tuple(_support(framework) for framework in Framework),
        queues=True,
        priority_classes=tuple(sorted(read_own_qos(transport) & set(PriorityClass))),
        terminal=True,
        partitions=tuple(partitions),
        accounts=accounts,
        qos=levels,
        containers=find_container_program(transport),
    )


def read_accounts(
    transport: Transport,
) -> tuple[tuple[BillingAccount, ...], tuple[ServiceLevel, ...]]:
    """Return all accounts and QOS that Slurm shows to Trainyard's user; none if accounting is
    off."""
    report = group_lines(files.run_program(transport, ACCOUNTS).out)
    default = report.get("default", [""])[0]
    accounts = parse_accounts(report.get("limit", ()), report.get("own", ()), default)
    return accounts, parse_service_levels(report.get("qos", ()))


def find_container_program(transport: Transport) -> str:
    """Return the program on the login node that starts container images, or ``""``."""
    return transport.run(["sh", "-c", FIND_CONTAINERS]).out.strip()


def read_partitions(transport: Transport, nodes: Iterable[NodeInfo]) -> tuple[Partition, ...]:
    """Return all partitions with their limits, including hidden partitions."""
    answer = transport.run([*SHOW, "partition"])
    return parse_partitions(answered(answer, "scontrol show partition"), nodes)


def read_own_qos(transport: Transport) -> set[str]:
    """Return the QOS that Trainyard's user may use; none if accounting is off."""
    words = ["sh", "-c", 'sacctmgr -nP show assoc user="$(id -un)" format=qos']
    answer = transport.run(words)
    lines = answer.out.splitlines() if answer.code == 0 else []
    return {name for line in lines for name in line.strip().split(",") if name}


def _support(framework: Framework) -> FrameworkSupport:
    if framework in RENDEZVOUS:
        return FrameworkSupport(framework, available=True, operator=PROVIDER)
    why = UNSUPPORTED.format(label=framework.label)
    return FrameworkSupport(framework, available=False, why=why)
