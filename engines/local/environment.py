"""The variables a rank sees: Kubeflow's for the rendezvous, Run:ai's for the workload.

Later wins: the base of this machine, the platform's defaults, the user's own variables, and last
what must be true for the gang to meet.
"""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from engines.local.plan import Plan, RankPlan

HOST = "127.0.0.1"
#: Marks every process of a workload, however far it strays from its process group.
MARKER = "TRAINYARD_GANG"
REFERENCE = re.compile(r"\$(\$?)(\(([A-Za-z_][A-Za-z0-9_.-]*)\))")
Ports = Sequence[int | str]
Variables = dict[str, str]


def ports_needed(plan: Plan) -> int:
    """One to meet at; TensorFlow's ranks each listen on their own."""
    return len(plan.ranks) if plan.framework == "TF" else 1


def environment(plan: Plan, rank: RankPlan, *, folder: Path, work: Path, ports: Ports) -> Variables:
    return {
        **plan.base,
        **defaults(plan, rank, folder=folder, work=work),
        **rank.variables,
        **RENDEZVOUS[plan.framework](plan, rank, ports),
        # Admission decides who gets which device. Empty hides all of them.
        "CUDA_VISIBLE_DEVICES": ",".join(map(str, rank.visible_gpus)),
        MARKER: str(folder),
    }


def defaults(plan: Plan, rank: RankPlan, *, folder: Path, work: Path) -> Variables:
    """What the platform says about the workload; a variable of the user replaces it."""
    found = {
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
    if len(plan.ranks) > 1:
        found["OMP_NUM_THREADS"] = (
            "1"  # torchrun's rule: ranks that share a machine share its cores
        )
    if sys.platform == "linux":
        found["GLOO_SOCKET_IFNAME"] = "lo"  # gloo guesses from the host's name, which may lie
    if rank.own_home:
        found["HOME"] = str(work)
    return found


def pytorch(plan: Plan, rank: RankPlan, ports: Ports) -> Variables:
    """``env://`` for plain programs, ``PET_*`` so that a bare ``torchrun program.py`` joins too."""
    met = _meeting(plan, rank, ports) | {"LOCAL_RANK": "0"}
    torchrun = {
        "PET_MASTER_ADDR": met["MASTER_ADDR"],
        "PET_MASTER_PORT": met["MASTER_PORT"],
        "PET_NODE_RANK": met["RANK"],
        "PET_NNODES": met["WORLD_SIZE"],
        "PET_NPROC_PER_NODE": rank.variables.get("PET_NPROC_PER_NODE", "1"),
    }
    return met | torchrun


def tensorflow(plan: Plan, rank: RankPlan, ports: Ports) -> Variables:
    if len(plan.ranks) == 1:
        return {}
    kinds = {"master": "chief", "worker": "worker"}
    cluster: dict[str, list[str]] = {}
    for other, port in zip(plan.ranks, ports, strict=True):
        cluster.setdefault(kinds[other.role], []).append(f"{HOST}:{port}")
    task = {"type": kinds[rank.role], "index": rank.index}
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": task, "environment": "cloud"})}


def xgboost(plan: Plan, rank: RankPlan, ports: Ports) -> Variables:
    return _meeting(plan, rank, ports)


def jax(plan: Plan, rank: RankPlan, ports: Ports) -> Variables:
    return {
        "COORDINATOR_ADDRESS": HOST,
        "COORDINATOR_PORT": str(ports[0]),
        "NUM_PROCESSES": str(len(plan.ranks)),
        "PROCESS_ID": str(rank.rank),
    }


def _meeting(plan: Plan, rank: RankPlan, ports: Ports) -> Variables:
    return {
        "MASTER_ADDR": HOST,
        "MASTER_PORT": str(ports[0]),
        "WORLD_SIZE": str(len(plan.ranks)),
        "RANK": str(rank.rank),
    }


RENDEZVOUS = {"PyTorch": pytorch, "TF": tensorflow, "XGBoost": xgboost, "JAX": jax}


def expand(argv: Sequence[str], variables: Variables) -> list[str]:
    """``$(NAME)`` in a command, as Kubernetes reads it: unknown names stay, ``$$(`` is ``$(``."""

    def value(match: re.Match[str]) -> str:
        return f"${match[2]}" if match[1] else variables.get(match[3], match[0])

    return [REFERENCE.sub(value, word) for word in argv]
