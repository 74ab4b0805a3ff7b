"""Parses and formats the facts of a run: the records of its scripts and of Trainyard. Pure."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from engines.base import Launch
from engines.slurm.queue.jobs import BatchJob
from engines.slurm.script.shape import group_tasks, has_launcher, script_text
from spec.workload import MAX_WORKERS, Role

LAST_SECOND = 10**11  # in seconds since 1970
MOST_RANKS = MAX_WORKERS + 1


@dataclass(frozen=True)
class RankFact:
    """A rank in the latest attempt. ``ended_ns`` is in nanoseconds since 1970, by the clock of its
    node. ``size`` is the length of its log in bytes when it ended. ``code`` is -N after signal N,
    and ``None`` until it ends. ``was_asked`` says whether it was asked to end."""

    node: str = ""
    started: datetime | None = None
    code: int | None = None
    ended_ns: int = 0
    size: int = 0
    was_asked: bool = False

    @property
    def ended(self) -> datetime | None:
        return _parse_time(self.ended_ns / 1e9) if self.ended_ns else None


@dataclass(frozen=True)
class RunFacts:
    """The facts of one run.

    ``roles`` has the role and index of each rank. ``finished`` is the exit code of the batch script
    and the time of its end, ``was_asked`` says whether it was asked to end, and ``verdict`` is the
    job as Slurm showed it last. ``parts`` are the numbers of tasks of a heterogeneous job, part by
    part; of any other job there is one number. ``lead`` is the rank with which named roles end, and
    with ``only_lead`` the failures of others do not matter. With ``launcher``, rank 0 starts the
    other ranks and is no task. With ``is_script``, a batch script starts the tasks, at any time and
    in any number. ``inside`` has for each part the options of ``srun`` that start a task in its
    image. ``excess`` says which limit the job exceeds. ``stage`` names what the ranks wait for,
    ``trouble`` what could not be fetched or mounted for them.
    """

    roles: tuple[tuple[str, int], ...]
    run: int
    created: datetime
    time_limit: int | None = None
    job: str = ""
    claim: str = ""
    attempt: int = -1
    stopped: bool = False
    is_over_limit: bool = False
    finished: tuple[int, datetime] | None = None
    was_asked: bool = False
    verdict: BatchJob | None = None
    ranks: Mapping[int, RankFact] = field(default_factory=dict)
    batch_log: str = ""
    parts: tuple[int, ...] = ()
    lead: int | None = None
    only_lead: bool = False
    launcher: bool = False
    is_script: bool = False
    inside: tuple[tuple[str, ...], ...] = ()
    excess: str = ""
    stage: str = ""
    trouble: str = ""

    @property
    def number(self) -> str:
        """Id of the job that has the run; empty if none is recorded yet."""
        return self.claim or self.job

    @property
    def is_taken(self) -> bool:
        """Whether Slurm has or had a job for the run. Until then, the submission may be refused or
        may have to be repeated."""
        return bool(self.number or self.finished or self.verdict)

    def part_of(self, rank: int) -> int:
        """Return the number of the part of the job that has a rank."""
        ends = accumulate(self.parts)
        return next((part for part, end in enumerate(ends) if rank < end), 0)

    @property
    def all_started(self) -> bool:
        return bool(self.ranks) if self.is_script else len(self.ranks) == len(self.roles)


def launch_line(
    launch: Launch, created: datetime, inside: Sequence[Sequence[str]] = (), excess: str = ""
) -> str:
    """Return what other processes have to know about a launch, as JSON. They only see the run's
    folder."""
    spec = launch.spec
    parts = [] if script_text(spec) else [part.count for part in group_tasks(spec)]
    lead = next((pod.rank for pod in spec.pods if pod.leads), None) if spec.roles else None
    return json.dumps(
        {
            "run": launch.run,
            "created": created.timestamp(),
            "master": spec.has_master,
            "ranks": spec.num_pods,
            "roles": [[role.name, role.count] for role in spec.roles],
            "lead": lead,
            "only_lead": spec.ignore_non_lead_status,
            "limit": spec.time_limit_seconds,
            "parts": parts,
            "launcher": has_launcher(spec),
            "script": bool(script_text(spec)),
            "inside": inside,
            "excess": excess,
        }
    )


def parse_facts(files: Mapping[str, str]) -> RunFacts | None:
    """Return the facts in the files of a run. ``None`` if nothing was launched, or the files make
    no sense: the user of the job can write anything there."""
    try:
        report = json.loads(files["launch"])
        master = bool(report["master"])
        count = _parse_integer(report["ranks"], MOST_RANKS)
        if not count:
            raise ValueError("a run without ranks")
        attempt = _parse_integer(files.get("attempt", "-1"))
        is_script = bool(report["script"])
        # A script starts as many tasks as it wants, whatever it requested.
        ranks = _parse_ranks(files, f"attempt-{attempt}/", MOST_RANKS if is_script else count)
        count = max([count, *(rank + 1 for rank in ranks)])
        roles = _parse_roles(report.get("roles", []), count)
        if not roles:
            roles = [(Role.MASTER, 0)] if master else []
            roles += [(Role.WORKER, index) for index in range(count - len(roles))]
        lead = report.get("lead")
        limit = report["limit"]
        return RunFacts(
            roles=tuple(roles),
            run=_parse_integer(report["run"]),
            created=_parse_time(report["created"]),
            time_limit=None if limit is None else _parse_integer(limit),
            job=files.get("job", ""),
            claim=files.get("claim", ""),
            attempt=attempt,
            stopped="stop" in files,
            is_over_limit="limit" in files,
            finished=_parse_finished(files.get("finished", "")),
            was_asked=files.get("finished", "").endswith(" asked"),
            verdict=parse_verdict(files.get("ended", "")),
            ranks=ranks,
            batch_log=files.get("batch.log", ""),
            parts=_parse_parts(report["parts"], count),
            lead=None if lead is None else _parse_integer(lead, count - 1),
            only_lead=bool(report.get("only_lead")),
            launcher=bool(report["launcher"]),
            is_script=is_script,
            inside=tuple(tuple(map(str, it)) for it in report["inside"]),
            excess=str(report.get("excess", "")),
            stage=files.get("stage", ""),
            trouble=files.get("trouble", ""),
        )
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError):
        return None


def _parse_roles(value: Any, count: int) -> list[tuple[str, int]]:
    """Return the role and index of each rank of named roles, which have ``count`` ranks together;
    none without named roles."""
    counts = [(str(name), _parse_integer(number, count)) for name, number in value]
    if counts and sum(number for _, number in counts) != count:
        raise ValueError("roles with other ranks than the run")
    return [(name, index) for name, number in counts for index in range(number)]


def _parse_parts(value: Any, count: int) -> tuple[int, ...]:
    """Return the number of tasks of each part. Runs of older releases have the number of parts, of
    which the first is that of the master."""
    if isinstance(value, int):
        return (1, count - 1) if value == 2 else (count,)
    counts = tuple(_parse_integer(number) for number in value)
    if len(counts) > 1 and (sum(counts) != count or min(counts) < 1):
        raise ValueError("parts with other tasks than the run")
    return counts if len(counts) > 1 else (count,)


def _parse_integer(value: Any, most: int = 2**31 - 1) -> int:
    """Return the value as a number. Raises ``ValueError`` if Trainyard cannot have written it."""
    number = int(value)
    if not -(2**31) <= number <= most:
        raise ValueError(f"{number} is out of range")
    return number


def _parse_finished(line: str) -> tuple[int, datetime] | None:
    with suppress(ValueError):
        _, code, at = line.split()[:3]
        return signed(_parse_integer(code)), _parse_time(float(at))
    return None


def _parse_ranks(files: Mapping[str, str], folder: str, count: int) -> dict[int, RankFact]:
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
        code, ns, size = (
            (signed(_parse_integer(end[0])), int(end[1]), int(end[2])) if end else (None, 0, 0)
        )
        _parse_time(ns / 1e9)
        was_asked = end[3:] == ["asked"]
        results[rank] = RankFact(node, _parse_time(float(at)), code, ns, size, was_asked)
    return results


def signed(code: int) -> int:
    """Return the exit code, and -N for signal N, which a shell reports as 128 + N."""
    return 128 - code if 128 < code <= 128 + 31 else code


def format_verdict(job: BatchJob) -> str:
    """Return the ended job as JSON, to be read once Slurm has forgotten it."""
    times = {"start": job.start, "end": job.end, "submitted": job.submitted}
    stamps = {name: at.timestamp() if at else None for name, at in times.items()}
    words = {"id": job.id, "name": job.name, "state": job.state, "nodes": job.nodes}
    return json.dumps(words | stamps | {"reason": job.reason, "exit": job.exit})


def parse_verdict(line: str) -> BatchJob | None:
    """Return the job in a line of :func:`format_verdict`, or ``None`` if it cannot be read."""
    with suppress(ValueError, TypeError, LookupError, AttributeError, RecursionError):
        report = json.loads(line)
        times = {name: report.pop(name) for name in ("start", "end", "submitted")}
        fields: dict[str, Any] = {name: str(text) for name, text in report.items()}
        fields |= {name: _parse_time(at) if at else None for name, at in times.items()}
        return BatchJob(**fields)
    return None


def _parse_time(seconds: float) -> datetime:
    """Return a time from seconds since 1970. Raises ``ValueError`` for one that cannot be right."""
    if not 0 <= seconds < LAST_SECOND:
        raise ValueError(f"{seconds} is not a time")
    return datetime.fromtimestamp(seconds, UTC)
