"""What a Slurm cluster offers to workloads."""

from engines.base import Capabilities, FrameworkSupport
from engines.partitions import Partition
from engines.slurm.client.transport import Transport
from engines.slurm.cluster.nodes import nodes
from engines.slurm.cluster.partitions import partitions
from engines.slurm.script.variables import RENDEZVOUS
from spec.framework import Framework
from spec.parts.scheduling import PriorityClass

SHOW = ("scontrol", "--all", "--oneliner", "show")
WHY = "Trainyard does not start {label} on Slurm yet. Choose PyTorch, or a Kubernetes cluster."


def capabilities(transport: Transport) -> Capabilities:
    """A priority is a QOS of that name which our user may have."""
    version = transport.run(["sbatch", "--version"]).out.strip()
    return Capabilities(
        frameworks=tuple(_support(framework, version) for framework in Framework),
        queues=True,
        priority_classes=tuple(sorted(qos(transport) & set(PriorityClass))),
        terminal=True,
        partitions=limits_of(transport),
    )


def limits_of(transport: Transport) -> tuple[Partition, ...]:
    """Of all partitions, hidden ones among them; none where Slurm does not say."""
    answers = [transport.run([*SHOW, what]) for what in ("partition", "node")]
    if any(answer.code for answer in answers):
        return ()
    return partitions(answers[0].out, nodes(answers[1].out))


def qos(transport: Transport) -> set[str]:
    """Those of our associations; none where accounting is off."""
    words = ["sh", "-c", 'sacctmgr -nP show assoc user="$(id -un)" format=qos']
    answer = transport.run(words)
    lines = answer.out.splitlines() if answer.code == 0 else []
    return {name for line in lines for name in line.strip().split(",") if name}


def _support(framework: Framework, version: str) -> FrameworkSupport:
    if framework in RENDEZVOUS:
        return FrameworkSupport(framework, available=True, operator="Slurm", version=version)
    why = WHY.format(label=framework.label)
    return FrameworkSupport(framework, available=False, why=why)
