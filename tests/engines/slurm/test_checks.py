"""How often the connection is tested, and what of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from engines.findings import Finding, Level
from engines.partitions import Partition
from engines.slurm.client.transport import TIMEOUT, CommandResult
from engines.slurm.cluster import checks, trial
from engines.slurm.cluster.checks import ClusterChecks
from engines.slurm.script.site import SlurmSite

FINE = """\
user ty
version slurm-wlm 22.05.8
ping Slurmctld(primary) at head is UP
config AccountingStorageType = accounting_storage/none
config PrivateData = jobs
directory yes
"""


@dataclass
class Answering:
    """A login node that prints this, whatever it is asked."""

    text: str
    host: str = "login"

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = TIMEOUT
    ) -> CommandResult:
        return CommandResult(0, self.text.encode(), "")

    def terminal(self, argv: Sequence[str]) -> list[str]:
        return [*argv]

    def tunnel(self, host: str, port: int) -> list[str] | None:
        return None


@pytest.mark.parametrize(
    ("level", "seconds"),
    [(Level.OK, 6 * 3600), (Level.WARNING, 600), (Level.ISSUE, 60), (Level.MISSING, 60)],
)
def test_the_trial_job_is_repeated_by_the_worst_that_it_showed(
    monkeypatch: pytest.MonkeyPatch, level: Level, seconds: int
) -> None:
    now = [1000.0]
    jobs = list[float]()

    def tried(*_: object) -> tuple[Finding, ...]:
        jobs.append(now[0])
        prologue = Finding("Nodes", trial.PROLOGUE, Level.WARNING)
        return prologue, Finding("Nodes", "Job", Level.OK), Finding("Nodes", "Python", level)

    monkeypatch.setattr(checks, "try_job", tried)
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    tested = ClusterChecks(Answering(FINE), SlurmSite("/shared"))
    for later in (0, seconds - 1, 2):
        now[0] += later
        found = tested.run(lambda: [Partition("gpu", is_default=True, closed="DRAIN")])
        assert {it.name for it in found} >= {"Python", "gpu", "PrivateData"}
    assert jobs == [1000.0, 1000.0 + seconds + 1]
    assert [it.level for it in found if it.name == "gpu"] == [Level.WARNING]


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        ("ended 1\npython /usr/bin/python3\ntold loaded", ""),  # such as [ -f x ] && . x
        ("ended 0\ncomplains yes\ntold careful", ""),
        ("ended 1\npython", "ended with exit code 1 on n1 and said nothing."),
        ("ended 1\npython\ntold no module", "ended with exit code 1 on n1: no module"),
        (
            f"ended 3\npython /usr/bin/python3\ncomplains yes\ntold {'word ' * 99}end",
            f"ended with exit code 3 on n1: … {'word ' * 59}end",
        ),
    ],
)
def test_a_prologue_with_an_error_code_and_output_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, seen: str, says: str
) -> None:
    monkeypatch.setattr(trial, "find_container_program", lambda *_: "")
    answer = f"folder 7\nstate COMPLETED None\nruns n1\nversion Python 3.11\ntorch 2\n{seen}\n"
    found = {it.name: it for it in trial.try_job(Answering(answer), SlurmSite("/shared"))}
    assert (trial.PROLOGUE in found) is bool(says)
    assert not says or found[trial.PROLOGUE].text == f"The prologue {says}"


def test_nothing_more_is_asked_where_slurm_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(*_: object) -> tuple[Any, ...]:
        raise AssertionError("it was asked")

    monkeypatch.setattr(checks, "try_job", ask)
    away = Answering(FINE.replace("is UP", "is DOWN"))
    found = ClusterChecks(away, SlurmSite("/shared")).run(ask)
    assert [it.level for it in found if it.name == "slurmctld"] == [Level.ISSUE]
