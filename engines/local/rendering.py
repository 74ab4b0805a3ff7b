"""Show a plan to people: one document per process."""

import shlex
from dataclasses import replace

from engines.base import Manifest
from engines.local.batch import starting
from engines.local.planning.environment import environment, hide_secrets, rendezvous_port_count
from engines.local.records.layout import Folder
from engines.local.records.plan import GangPlan, RankPlan
from engines.local.system.marks import MARKER

PORT = "<free port>"  # chosen by each attempt


def render(plan: GangPlan, folder: Folder) -> list[Manifest]:
    """Return the processes of a plan, without this machine's variables and without secrets."""
    return [_process_manifest(replace(plan, base={}), rank, folder) for rank in plan.ranks]


def _program(plan: GangPlan, rank: RankPlan) -> Manifest:
    """Return what the rank runs. Only rank 0 runs a batch script; it starts tasks at the others."""
    if plan.batch is None:
        return {"command": shlex.join(rank.argv)}
    if rank.rank:
        return {"tasks": "those that srun starts here"}
    return {"script": plan.batch.script, "arguments": plan.batch.arguments}


def _gpus(plan: GangPlan) -> list[str]:
    return [str(index) for rank in plan.ranks for index in rank.visible_gpus]


def _process_manifest(plan: GangPlan, rank: RankPlan, folder: Folder) -> Manifest:
    rank_folder = folder.rank_folder(rank.name)
    ports = [PORT] * rendezvous_port_count(plan)
    tool_ports = {str(port): PORT for port in rank.tool_ports}
    variables = environment(
        plan,
        rank,
        folder=folder.path,
        rank_folder=rank_folder,
        ports=ports,
        tool_ports=tool_ports,
    )
    del variables[MARKER]
    if plan.batch:
        job = starting.describe_job(plan, plan.batch, folder, attempt=0, gpus=_gpus(plan))
        variables |= job.variables(rank.rank)
    limits = {"cpu": rank.cpu_limit, "memory": rank.memory_limit}
    return {
        "kind": "Process",
        "name": f"{plan.name}-{rank.name}",
        "rank": rank.rank,
        "node": plan.node,
        **({"setup": plan.setup} if plan.setup else {}),
        **_program(plan, rank),
        "workingDir": rank.working_dir or str(rank_folder),
        "environment": hide_secrets(variables, rank.secrets),
        "gpus": rank.gpu_request,
        "limits": {name: limit for name, limit in limits.items() if limit is not None},
        "backoffLimit": plan.backoff_limit,
        "terminationGracePeriodSeconds": plan.grace,
        **({"timeLimitSeconds": plan.time_limit} if plan.time_limit else {}),
    }
