"""What the scripts of a run wrote down, and what we did. Pure."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from engines.base import Launch
from engines.slurm.queue.jobs import BatchJob
from engines.slurm.script.shape import has_launcher, tasks_of
from spec.workload import MAX_WORKERS, Role

LAST_SECOND = 10**11  # since 1970


@dataclass(frozen=True)
class RankFact:
    """One rank of the latest attempt. ``ended_ns`` is by the clock of its node, ``size`` that of
    its log in bytes when it ended. ``code`` is -N after signal N."""

    node: str = ""
    started: datetime | None = None
    code: int | None = None
    ended_ns: int = 0
    size: int = 0

    @property
    def ended(self) -> datetime | None:
        return _at(self.ended_ns / 1e9) if self.ended_ns else None


@dataclass(frozen=True)
class RunFacts:
    """``roles`` holds role and index of each rank; ``finished`` is with which code and when the
    batch script ended, ``asked`` whether it was asked to, ``verdict`` the job as Slurm showed it at
    last; ``parts`` are those of a heterogeneous job, the master's and the workers'; ``launcher``:
    rank 0 starts the others and is no task itself; ``is_script``: its tasks start when a batch
    script comes to that; ``inside``: for each part, how ``srun`` puts a task into its image.
    ``stage`` is what keeps the ranks from starting, ``trouble`` what was not fetched for them."""

    roles: tuple[tuple[Role, int], ...]
    run: int
    created: datetime
    time_limit: int | None = None
    job: str = ""
    claim: str = ""
    attempt: int = -1
    stopped: bool = False
    limited: bool = False
    finished: tuple[int, datetime] | None = None
    asked: bool = False
    verdict: BatchJob | None = None
    ranks: Mapping[int, RankFact] = field(default_factory=dict)
    batch_log: str = ""
    parts: int = 1
    launcher: bool = False
    is_script: bool = False
    inside: tuple[tuple[str, ...], ...] = ()
    stage: str = ""
    trouble: str = ""

    @property
    def number(self) -> str:
        """Of the job that has the run, as far as it is written down."""
        return self.claim or self.job

    @property
    def is_taken(self) -> bool:
        """Whether Slurm has, or had, a job for it: until then its submission may be refused, or has
        to be tried again."""
        return bool(self.number or self.finished or self.verdict)

    @property
    def all_started(self) -> bool:
        return bool(self.ranks) if self.is_script else len(self.ranks) == len(self.roles)


def launch_line(launch: Launch, created: datetime, inside: Sequence[Sequence[str]] = ()) -> str:
    """What is remembered of a launch, for whoever sees nothing but its folder."""
    spec = launch.spec
    return json.dumps(
        {
            "run": launch.run,
            "created": created.timestamp(),
            "master": spec.has_master,
            "ranks": spec.num_pods,
            "limit": spec.time_limit_seconds,
            "parts": len(tasks_of(spec)),
            "launcher": has_launcher(spec),
            "script": bool(spec.batch_script),
            "inside": inside,
        }
    )


def facts_of(files: Mapping[str, str]) -> RunFacts | None:
    """``None`` where nothing was launched, or its line is torn, or makes no sense: whoever a job
    runs as can write anything there."""
    try:
        report = json.loads(files["launch"])
        master, count = bool(report["master"]), _whole(report["ranks"], MAX_WORKERS + 1)
        roles = [(Role.MASTER, 0)] if master else []
        roles += [(Role.WORKER, index) for index in range(count - len(roles))]
        if not roles:
            raise ValueError("a run without ranks")
        attempt = _whole(files.get("attempt", "-1"))
        limit = report["limit"]
        return RunFacts(
            roles=tuple(roles),
            run=_whole(report["run"]),
            created=_at(report["created"]),
            time_limit=None if limit is None else _whole(limit),
            job=files.get("job", ""),
            claim=files.get("claim", ""),
            attempt=attempt,
            stopped="stop" in files,
            limited="limit" in files,
            finished=_finished(files.get("finished", "")),
            asked=files.get("finished", "").endswith(" asked"),
            verdict=verdict_of(files.get("ended", "")),
            ranks=_ranks(files, f"attempt-{attempt}/", len(roles)),
            batch_log=files.get("batch.log", ""),
            parts=_whole(report.get("parts", 1)),
            launcher=bool(report.get("launcher")),
            is_script=bool(report.get("script")),
            inside=tuple(tuple(map(str, it)) for it in report.get("inside", ())),
            stage=files.get("stage", ""),
            trouble=files.get("trouble", ""),
        )
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError):
        return None


def _whole(value: Any, most: int = 2**31 - 1) -> int:
    """``ValueError`` of a number that is none of ours."""
    number = int(value)
    if not -(2**31) <= number <= most:
        raise ValueError(f"{number} is out of range")
    return number


def _finished(line: str) -> tuple[int, datetime] | None:
    with suppress(ValueError):
        _, code, at = line.split()[:3]
        return signed(_whole(code)), _at(float(at))
    return None


def _ranks(files: Mapping[str, str], folder: str, count: int) -> dict[int, RankFact]:
    results: dict[int, RankFact] = {}
    for path, text in files.items():
        name = path.removeprefix(folder)
        if not (path.startswith(folder) and name.endswith(".started")):
            continue
        rank = int(name.removesuffix(".started").removeprefix("rank-"))
        if not 0 <= rank < count:
            continue
        node, at = text.split()
        end = files.get(f"{folder}rank-{rank}.ended", "").split()
        code, ns, size = (signed(_whole(end[0])), int(end[1]), int(end[2])) if end else (None, 0, 0)
        _at(ns / 1e9)
        results[rank] = RankFact(node, _at(float(at)), code, ns, size)
    return results


def signed(code: int) -> int:
    """A shell reports a signal as 128 + N."""
    return 128 - code if 128 < code <= 128 + 31 else code


def verdict_line(job: BatchJob) -> str:
    """The job at its end, kept where it can be read when Slurm has forgotten it."""
    times = {"start": job.start, "end": job.end, "submitted": job.submitted}
    stamps = {name: at.timestamp() if at else None for name, at in times.items()}
    words = {"id": job.id, "name": job.name, "state": job.state, "nodes": job.nodes}
    return json.dumps(words | stamps | {"reason": job.reason, "exit": job.exit})


def verdict_of(line: str) -> BatchJob | None:
    with suppress(ValueError, TypeError, LookupError, AttributeError, RecursionError):
        report = json.loads(line)
        times = {name: report.pop(name) for name in ("start", "end", "submitted")}
        fields: dict[str, Any] = {name: str(text) for name, text in report.items()}
        fields |= {name: _at(at) if at else None for name, at in times.items()}
        return BatchJob(**fields)
    return None


def _at(seconds: float) -> datetime:
    """``ValueError`` of a time that is none of ours."""
    if not 0 <= seconds < LAST_SECOND:
        raise ValueError(f"{seconds} is not a time")
    return datetime.fromtimestamp(seconds, UTC)
