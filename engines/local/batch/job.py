"""The job that a batch script sees: its nodes, and the variables that sbatch would set."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engines.local.batch.hostlist import compress_counts, compress_hostlist

FILE = "job.json"
LOOPBACK = "127.0.0.{0}"
MOST_NODES = 254  # addresses 127.0.0.1 to 127.0.0.254
CLUSTER = "trainyard"


@dataclass(frozen=True)
class ScriptNode:
    """A part of this machine that stands for a node. ``ranks`` have their hosts there; ``gpus`` are
    values for ``CUDA_VISIBLE_DEVICES``, without virtual ones."""

    name: str
    ranks: tuple[int, ...]
    cpus: int
    gpus: tuple[str, ...] = ()
    gpu_count: int = 0


@dataclass(frozen=True)
class ScriptJob:
    """A job. ``options`` are those of the script's ``#SBATCH`` lines, by their long names. ``logs``
    is the folder with the output of the ranks; ``stop`` and ``bell`` end the workload.
    ``seconds_left`` is the time until the time limit at the start; ``None`` without one."""

    number: int
    name: str
    script: str
    submit_dir: str
    user: str
    nodes: tuple[ScriptNode, ...]
    cpus_per_task: int
    sets_tasks: bool
    logs: str
    attempt: int
    stop: str
    bell: str
    options: Mapping[str, str] = field(default_factory=dict)
    seconds_left: float | None = None

    @property
    def tasks(self) -> int:
        return sum(len(node.ranks) for node in self.nodes)

    @property
    def partition(self) -> str:
        return self.options.get("partition", "local").split(",")[0]

    @property
    def has_gpus(self) -> bool:
        return any(node.gpu_count for node in self.nodes)

    def log_of(self, rank: int) -> Path:
        """Return the file with the output of a rank, as ``Folder.log``."""
        return Path(self.logs) / f"{rank}.{self.attempt}.log"

    def variables(self, rank: int = 0) -> dict[str, str]:
        """Return what sbatch sets for the script, which rank 0 runs. ``SLURM_NTASKS`` and the like
        are only set if the script has that option, as on Slurm: srun would take them for its
        own."""
        nodes = compress_hostlist(node.name for node in self.nodes)
        first = self.nodes[0]
        node = next(node for node in self.nodes if rank in node.ranks)
        return {
            "SLURM_JOB_ID": str(self.number),
            "SLURM_JOBID": str(self.number),
            "SLURM_JOB_NAME": self.name,
            "SLURM_JOB_NODELIST": nodes,
            "SLURM_NODELIST": nodes,
            "SLURM_JOB_NUM_NODES": str(len(self.nodes)),
            "SLURM_NNODES": str(len(self.nodes)),
            "SLURM_TASKS_PER_NODE": compress_counts(len(node.ranks) for node in self.nodes),
            "SLURM_JOB_CPUS_PER_NODE": compress_counts(node.cpus for node in self.nodes),
            "SLURM_CPUS_ON_NODE": str(node.cpus),
            "SLURM_JOB_PARTITION": self.partition,
            "SLURM_JOB_USER": self.user,
            "SLURM_JOB_UID": str(os.getuid()),
            "SLURM_JOB_GID": str(os.getgid()),
            "SLURM_CLUSTER_NAME": CLUSTER,
            "SLURM_SUBMIT_DIR": self.submit_dir,
            "SLURM_SUBMIT_HOST": first.name,
            "SLURMD_NODENAME": node.name,
            "SLURM_PROCID": str(rank),
            "SLURM_LOCALID": str(node.ranks.index(rank)),
            "SLURM_NODEID": str(self.nodes.index(node)),
            "SLURM_GTIDS": str(rank),
            # One rank that fails ends its step, as for scripts on Trainyard's Slurm clusters.
            "SLURM_KILL_BAD_EXIT": "1",
            **self._variables_of_options(),
            **self._gpu_variables(node),
        }

    def _variables_of_options(self) -> dict[str, str]:
        values: dict[str, str] = {}
        if self.sets_tasks:
            values["SLURM_NTASKS"] = str(self.tasks)
            values["SLURM_NPROCS"] = str(self.tasks)
        copies = {
            "ntasks-per-node": "SLURM_NTASKS_PER_NODE",
            "cpus-per-task": "SLURM_CPUS_PER_TASK",
            "gpus": "SLURM_GPUS",
            "gpus-per-node": "SLURM_GPUS_PER_NODE",
            "gpus-per-task": "SLURM_GPUS_PER_TASK",
            "account": "SLURM_JOB_ACCOUNT",
            "qos": "SLURM_JOB_QOS",
            "constraint": "SLURM_JOB_CONSTRAINTS",
            "distribution": "SLURM_DISTRIBUTION",
        }
        return values | {
            variable: self.options[name]
            for name, variable in copies.items()
            if self.options.get(name)
        }

    def _gpu_variables(self, node: ScriptNode) -> dict[str, str]:
        if not self.has_gpus:
            return {}
        visible = ",".join(node.gpus)
        return {
            "CUDA_VISIBLE_DEVICES": visible,
            "SLURM_GPUS_ON_NODE": str(node.gpu_count),
            "SLURM_JOB_GPUS": visible,
        }

    def write(self, folder: Path) -> None:
        (folder / FILE).write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, folder: Path) -> "ScriptJob":
        document: dict[str, Any] = json.loads((folder / FILE).read_text())
        nodes = tuple(
            ScriptNode(**{**node, "ranks": tuple(node["ranks"]), "gpus": tuple(node["gpus"])})
            for node in document["nodes"]
        )
        return cls(**{**document, "nodes": nodes})


def make_nodes(
    tasks_per_node: Iterable[int], cpus_per_task: int, gpu_count: int, gpus: Iterable[str]
) -> tuple[ScriptNode, ...]:
    """Divide ranks and GPUs among the nodes, in order. ``gpu_count`` includes virtual GPUs."""
    counts = list(tasks_per_node)
    devices = list(gpus)
    nodes: list[ScriptNode] = []
    rank = 0
    for number, tasks in enumerate(counts):
        share = gpu_count // len(counts) + (number < gpu_count % len(counts))
        own = devices[:share]
        del devices[:share]
        name = LOOPBACK.format(number + 1)
        ranks = tuple(range(rank, rank + tasks))
        nodes.append(ScriptNode(name, ranks, tasks * cpus_per_task, tuple(own), share))
        rank += tasks
    return tuple(nodes)
