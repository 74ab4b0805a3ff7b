"""Build a rank's environment variables: Kubeflow's for the rendezvous, Run:ai's for the workload.

Later ones override earlier ones: this machine's, the platform's defaults, the user's, and last
those without which the ranks would not find each other.
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
from engines.local.system.ports import PORT_VARIABLE
from spec.framework import Framework
from spec.values.variable import MASK, expand_value, looks_secret

HOST = "127.0.0.1"
REFERENCE = re.compile(r"\$(\$?)(\(([A-Za-z_][A-Za-z0-9_.-]*)\))")
Ports = Sequence[int | str]
Variables = dict[str, str]


def rendezvous_port_count(plan: GangPlan) -> int:
    """Return how many ports the rendezvous needs: one, or one per rank."""
    return len(plan.ranks) if rendezvous_of(plan).all_listen else 1


def environment(
    plan: GangPlan,
    rank: RankPlan,
    *,
    folder: Path,
    rank_folder: Path,
    ports: Ports,
    tool_ports: Mapping[str, int | str],
    gpu_names: Mapping[int, str] | None = None,
) -> Variables:
    """Return all variables of a rank.

    ``ports`` are for the rendezvous. ``tool_ports`` maps the tools' ports to those on this machine,
    and ``gpu_names`` the numbers of devices to CUDA's names for them, if they differ.
    """
    names = gpu_names or {}
    visible_gpus = [names.get(index, str(index)) for index in rank.visible_gpus]
    defaults = default_variables(plan, rank, folder=folder, rank_folder=rank_folder)
    for port, own_port in tool_ports.items():
        defaults[PORT_VARIABLE.format(port)] = str(own_port)
    return {
        **plan.base,
        **defaults,
        **user_variables(rank, defaults),
        **rendezvous_of(plan).variables(plan, rank, ports),
        # The devices that admission assigned; an empty value hides all of them. Without an order,
        # CUDA counts the fastest first, unlike the driver and its tools.
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": ",".join(visible_gpus),
        MARKER: str(folder),
    }


def user_variables(rank: RankPlan, defaults: Variables) -> Variables:
    """Return the user's variables and secrets, with references to ``defaults`` and to earlier
    variables replaced in their values."""
    given = rank.variables | rank.secrets
    variables: Variables = {}
    for name in rank.order or given:
        value = given[name]
        if name in rank.expanded:
            value = expand_value(value, defaults | variables)
        variables[name] = value
    return variables


def default_variables(
    plan: GangPlan, rank: RankPlan, *, folder: Path, rank_folder: Path
) -> Variables:
    """Return the platform's variables about the workload, which the user's override."""
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
    if len(plan.ranks) * plan.processes > 1 and not plan.batch:
        values["OMP_NUM_THREADS"] = "1"  # as torchrun does: ranks on one machine share its cores
    if sys.platform == "linux":
        # Gloo would otherwise choose an interface by the host's name, which may be wrong.
        values["GLOO_SOCKET_IFNAME"] = "lo"
    if rank.own_home:
        values["HOME"] = str(rank_folder)
    return values


def pytorch_variables(plan: GangPlan, rank: RankPlan, ports: Ports) -> Variables:
    """Return variables for ``env://``, and ``PET_*`` for a bare ``torchrun program.py``."""
    variables = _master_variables(plan, rank, ports)
    return variables | {
        "LOCAL_RANK": "0",
        "PET_MASTER_ADDR": variables["MASTER_ADDR"],
        "PET_MASTER_PORT": variables["MASTER_PORT"],
        "PET_NODE_RANK": variables["RANK"],
        "PET_NNODES": str(len(plan.ranks)),
        "PET_NPROC_PER_NODE": rank.variables.get("PET_NPROC_PER_NODE", str(plan.processes)),
    }


def tensorflow_variables(plan: GangPlan, rank: RankPlan, ports: Ports) -> Variables:
    """Return ``TF_CONFIG``, in which the master is the chief; nothing for a single rank."""
    if len(plan.ranks) == 1:
        return {}
    cluster: dict[str, list[str]] = {}
    for other, port in zip(plan.ranks, ports, strict=True):
        if other.role != "evaluator":  # it reads checkpoints, and is in no cluster
            cluster.setdefault(_task_type(other), []).append(f"{HOST}:{port}")
    task = {"type": _task_type(rank), "index": rank.index}
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": task, "environment": "cloud"})}


def _task_type(rank: RankPlan) -> str:
    """Return TensorFlow's name for the role of a rank."""
    return "chief" if rank.role == "master" else rank.role


def xgboost_variables(plan: GangPlan, rank: RankPlan, ports: Ports) -> Variables:
    return _master_variables(plan, rank, ports)


def jax_variables(plan: GangPlan, rank: RankPlan, ports: Ports) -> Variables:
    return {
        "COORDINATOR_ADDRESS": HOST,
        "COORDINATOR_PORT": str(ports[0]),
        "NUM_PROCESSES": str(len(plan.ranks)),
        "PROCESS_ID": str(rank.rank),
    }


def mpi_variables(plan: GangPlan, rank: RankPlan, ports: Ports) -> Variables:
    """Return Kubeflow's variable for MPI; mpirun sets the others, see ``mpi.py``."""
    return {"RUNAI_MPI_NUM_WORKERS": str(len(plan.ranks) - 1)}


def _master_variables(plan: GangPlan, rank: RankPlan, ports: Ports) -> Variables:
    return {
        "MASTER_ADDR": HOST,
        "MASTER_PORT": str(ports[0]),
        "WORLD_SIZE": str(len(plan.ranks) * plan.processes),
        "RANK": str(rank.rank),
    }


@dataclass(frozen=True)
class Rendezvous:
    """How the ranks of a framework find each other.

    ``variables`` returns what a rank needs. Each rank listens on a port of its own if
    ``all_listen``, otherwise only the first does. ``program`` must be on this machine, if not
    empty; ``package`` installs it.
    """

    variables: Callable[[GangPlan, RankPlan, Ports], Variables]
    all_listen: bool = False
    program: str = ""
    package: str = ""

    @property
    def lack(self) -> str:
        """Why the framework cannot run on this machine now; empty if it can."""
        if not self.program or shutil.which(self.program, path=base_variables()["PATH"]):
            return ""
        return (
            f"{self.program} is not installed on this machine: install {self.package}, or choose "
            "a cluster that has it."
        )


#: The frameworks that run on this machine.
RENDEZVOUS: dict[str, Rendezvous] = {
    Framework.PYTORCH: Rendezvous(pytorch_variables),
    Framework.TENSORFLOW: Rendezvous(tensorflow_variables, all_listen=True),
    Framework.XGBOOST: Rendezvous(xgboost_variables),
    Framework.JAX: Rendezvous(jax_variables),
    Framework.MPI: Rendezvous(mpi_variables, program="mpirun", package="Open MPI (openmpi-bin)"),
}
#: For a workload of a single pod.
NO_RENDEZVOUS = Rendezvous(lambda plan, rank, ports: {})


def rendezvous_of(plan: GangPlan) -> Rendezvous:
    """Return the rendezvous of a plan. Several processes in one pod use torchrun, even without a
    framework. A batch script arranges its own."""
    if plan.batch:  # its tasks find each other as on Slurm
        return NO_RENDEZVOUS
    framework = plan.framework or (Framework.PYTORCH if plan.processes > 1 else "")
    return RENDEZVOUS[framework] if framework else NO_RENDEZVOUS


def expand(argv: Sequence[str], variables: Variables) -> list[str]:
    """Expand ``$(NAME)`` in a command like Kubernetes: unknown names stay, ``$$(`` becomes
    ``$(``."""

    def value(match: re.Match[str]) -> str:
        return f"${match[2]}" if match[1] else variables.get(match[3], match[0])

    return [REFERENCE.sub(value, word) for word in argv]


def hide_secrets(variables: Variables, names: Collection[str] = ()) -> dict[str, str]:
    """Return variables for messages and manifests, with the values masked of those in ``names`` and
    those whose name looks like a secret."""
    return {
        name: MASK if name in names or looks_secret(name) else value
        for name, value in variables.items()
    }
