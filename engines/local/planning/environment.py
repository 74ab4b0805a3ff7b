"""Build a rank's environment variables: Kubeflow's for the rendezvous, Run:ai's for the workload.

Later ones win: this machine's, the platform's defaults, the user's, and last those without which
the gang could not meet.
"""

import json
import re
import shutil
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engines.local.records.plan import GangPlan, RankPlan
from engines.local.system.inherited import base_variables
from engines.local.system.marks import MARKER
from engines.local.system.ports import VARIABLE
from spec.framework import Framework
from spec.values.variable import MASK, looks_secret

HOST = "127.0.0.1"
REFERENCE = re.compile(r"\$(\$?)(\(([A-Za-z_][A-Za-z0-9_.-]*)\))")
Ports = Sequence[int | str]
Variables = dict[str, str]


def ports_needed(plan: GangPlan) -> int:
    """The number of ports for the rendezvous: one, or one per rank."""
    return len(plan.ranks) if rendezvous_of(plan).all_listen else 1


def environment(
    plan: GangPlan,
    rank: RankPlan,
    *,
    folder: Path,
    work: Path,
    ports: Ports,
    tools: Mapping[str, int | str],
    gpus: Mapping[int, str] | None = None,
) -> Variables:
    """All variables of a rank. ``ports`` are for the rendezvous; ``tools`` maps the tools' ports to
    those on this machine, and ``gpus`` the devices to what CUDA calls them, if not by number."""
    names = gpus or {}
    return {
        **plan.base,
        **defaults(plan, rank, folder=folder, work=work),
        **{VARIABLE.format(port): str(ours) for port, ours in tools.items()},
        **rank.variables,
        **rank.secrets,
        **rendezvous_of(plan).variables(plan, rank, ports),
        # The devices that admission assigned; an empty value hides all of them. Left alone,
        # CUDA counts the fastest first, unlike the driver and its tools.
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": ",".join(names.get(it, str(it)) for it in rank.visible_gpus),
        MARKER: str(folder),
    }


def defaults(plan: GangPlan, rank: RankPlan, *, folder: Path, work: Path) -> Variables:
    """The platform's variables about the workload, which the user's override."""
    values = {
        "PYTHONUNBUFFERED": "1",
        "CHECKPOINT_DIR": str(folder / "checkpoints"),
        "NODE_NAME": plan.node,
        "RUNAI_PROJECT": plan.project,
        "RUNAI_JOB_NAME": plan.name,
        "RUNAI_JOB_UUID": plan.workload_id,
        "RUNAI_NUM_OF_GPUS": f"{rank.gpu_request:g}",
        "JOB_NAME": plan.name,
        "JOB_UUID": plan.workload_id,
        "POD_INDEX": str(rank.rank),
        "POD_NAME": f"{plan.name}-{rank.name}",
    }
    if len(plan.ranks) * plan.processes > 1:
        values["OMP_NUM_THREADS"] = "1"  # as torchrun does: ranks on one machine share its cores
    if sys.platform == "linux":
        values["GLOO_SOCKET_IFNAME"] = "lo"  # gloo guesses from the host's name, which may lie
    if rank.own_home:
        values["HOME"] = str(work)
    return values


def pytorch(plan: GangPlan, rank: RankPlan, ports: Ports) -> Variables:
    """Variables for ``env://``, and ``PET_*`` for a bare ``torchrun program.py``."""
    met = _meeting(plan, rank, ports) | {"LOCAL_RANK": "0"}
    torchrun = {
        "PET_MASTER_ADDR": met["MASTER_ADDR"],
        "PET_MASTER_PORT": met["MASTER_PORT"],
        "PET_NODE_RANK": met["RANK"],
        "PET_NNODES": str(len(plan.ranks)),
        "PET_NPROC_PER_NODE": rank.variables.get("PET_NPROC_PER_NODE", str(plan.processes)),
    }
    return met | torchrun


def tensorflow(plan: GangPlan, rank: RankPlan, ports: Ports) -> Variables:
    if len(plan.ranks) == 1:
        return {}
    kinds = {"master": "chief", "worker": "worker"}
    cluster: dict[str, list[str]] = {}
    for other, port in zip(plan.ranks, ports, strict=True):
        cluster.setdefault(kinds[other.role], []).append(f"{HOST}:{port}")
    task = {"type": kinds[rank.role], "index": rank.index}
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": task, "environment": "cloud"})}


def xgboost(plan: GangPlan, rank: RankPlan, ports: Ports) -> Variables:
    return _meeting(plan, rank, ports)


def jax(plan: GangPlan, rank: RankPlan, ports: Ports) -> Variables:
    return {
        "COORDINATOR_ADDRESS": HOST,
        "COORDINATOR_PORT": str(ports[0]),
        "NUM_PROCESSES": str(len(plan.ranks)),
        "PROCESS_ID": str(rank.rank),
    }


def mpi(plan: GangPlan, rank: RankPlan, ports: Ports) -> Variables:
    """Variables of MPI; mpirun sets the rest, see ``mpi.py``."""
    return {"RUNAI_MPI_NUM_WORKERS": str(len(plan.ranks) - 1)}


def _meeting(plan: GangPlan, rank: RankPlan, ports: Ports) -> Variables:
    return {
        "MASTER_ADDR": HOST,
        "MASTER_PORT": str(ports[0]),
        "WORLD_SIZE": str(len(plan.ranks) * plan.processes),
        "RANK": str(rank.rank),
    }


@dataclass(frozen=True)
class Rendezvous:
    """How the ranks of a framework meet: by which variables, and whether they ``all_listen`` on
    ports of their own or only the first does. ``needs`` is a program that this machine must have.
    """

    variables: Callable[[GangPlan, RankPlan, Ports], Variables]
    all_listen: bool = False
    needs: str = ""
    brought_by: str = ""

    @property
    def lack(self) -> str:
        """Why the framework cannot run on this machine now; empty if it can."""
        if not self.needs or shutil.which(self.needs, path=base_variables()["PATH"]):
            return ""
        return (
            f"{self.needs} is not installed on this machine: install {self.brought_by}, or choose "
            "a cluster that has it."
        )


#: The frameworks that run on this machine.
RENDEZVOUS: dict[str, Rendezvous] = {
    Framework.PYTORCH: Rendezvous(pytorch),
    Framework.TENSORFLOW: Rendezvous(tensorflow, all_listen=True),
    Framework.XGBOOST: Rendezvous(xgboost),
    Framework.JAX: Rendezvous(jax),
    Framework.MPI: Rendezvous(mpi, needs="mpirun", brought_by="Open MPI (openmpi-bin)"),
}
#: For a workload of a single pod.
ALONE = Rendezvous(lambda plan, rank, ports: {})


def rendezvous_of(plan: GangPlan) -> Rendezvous:
    """The rendezvous of a plan. Several processes in one pod use torchrun, with or without a
    framework."""
    framework = plan.framework or (Framework.PYTORCH if plan.processes > 1 else "")
    return RENDEZVOUS[framework] if framework else ALONE


def expand(argv: Sequence[str], variables: Variables) -> list[str]:
    """Expand ``$(NAME)`` in a command like Kubernetes: unknown names stay, ``$$(`` becomes
    ``$(``."""

    def value(match: re.Match[str]) -> str:
        return f"${match[2]}" if match[1] else variables.get(match[3], match[0])

    return [REFERENCE.sub(value, word) for word in argv]


def hide_secrets(variables: Variables, names: Collection[str] = ()) -> dict[str, str]:
    """Return variables as messages and manifests show them: without the values of those whose name
    looks like a secret's, and of ``names``."""
    return {
        name: MASK if name in names or looks_secret(name) else value
        for name, value in variables.items()
    }
