"""Find out what a Slurm cluster offers to workloads."""

from collections.abc import Iterable, Sequence

from engines.base import Capabilities, FrameworkSupport
from engines.nodes import NodeInfo
from engines.partitions import BillingAccount, Partition
from engines.slurm.client import files
from engines.slurm.client.transport import Transport
from engines.slurm.cluster.accounts import LIMITS, limits
from engines.slurm.cluster.lines import lines
from engines.slurm.cluster.partitions import partitions
from engines.slurm.queue.commands import answered
from engines.slurm.script.rank.variables import RENDEZVOUS
from spec.framework import Framework
from spec.parts.scheduling import PriorityClass

SHOW = ("scontrol", "--all", "--oneliner", "show")  # including hidden ones
ACCOUNTS = r"""
sacctmgr -nP show user "$(id -un)" format=defaultaccount 2>/dev/null | sed 's/^/default /'
sacctmgr -nP show assoc where user= format=account,LIMITS 2>/dev/null | sed 's/^/limit /'
""".replace("LIMITS", ",".join(LIMITS))
# pyxis is a plugin: it shows in the options of srun.
CONTAINERS = r"""
if srun --help 2>/dev/null | grep -q -e --container-image; then echo pyxis; exit; fi
for p in apptainer singularity; do
  if command -v $p > /dev/null; then echo $p; exit; fi
done
"""
WHY = "Trainyard does not start {label} on Slurm yet. Choose PyTorch, or a Kubernetes cluster."


def capabilities(transport: Transport, there: Sequence[Partition]) -> Capabilities:
    """The capabilities of the cluster. A priority is available if our user may use a QOS of that
    name. ``there`` are the partitions, which Slurm was just asked for."""
    *_, version = transport.run(["sbatch", "--version"]).out.split() or [""]
    return Capabilities(
        frameworks=tuple(_support(framework, version) for framework in Framework),
        queues=True,
        priority_classes=tuple(sorted(qos(transport) & set(PriorityClass))),
        terminal=True,
        partitions=tuple(there),
        accounts=accounts(transport),
        containers=containers(transport),
    )


def accounts(transport: Transport) -> tuple[BillingAccount, ...]:
    """Return all accounts that Slurm shows to our user; none if accounting is off."""
    report = lines(files.sh(transport, ACCOUNTS).out)
    default = report.get("default", [""])[0]
    bounds = limits(report.get("limit", ()))
    return tuple(BillingAccount(name, said, name == default) for name, said in bounds.items())


def containers(transport: Transport) -> str:
    """The program that starts container images, as found on the login node; empty if there
    is none."""
    return transport.run(["sh", "-c", CONTAINERS]).out.strip()


def read_partitions(transport: Transport, nodes: Iterable[NodeInfo]) -> tuple[Partition, ...]:
    """All partitions with their limits, including hidden ones."""
    answer = transport.run([*SHOW, "partition"])
    return partitions(answered(answer, "scontrol show partition"), nodes)


def qos(transport: Transport) -> set[str]:
    """The QOS that our user may use; none if accounting is off."""
    words = ["sh", "-c", 'sacctmgr -nP show assoc user="$(id -un)" format=qos']
    answer = transport.run(words)
    lines = answer.out.splitlines() if answer.code == 0 else []
    return {name for line in lines for name in line.strip().split(",") if name}


def _support(framework: Framework, version: str) -> FrameworkSupport:
    if framework in RENDEZVOUS:
        return FrameworkSupport(framework, available=True, operator="Slurm", version=version)
    why = WHY.format(label=framework.label)
    return FrameworkSupport(framework, available=False, why=why)
