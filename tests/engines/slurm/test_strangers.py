"""Where jobs run under people's own names, whatever one of them writes on the shared directory
harms nobody else: it shows its maker nothing, hides nothing of others, and stops no watch."""

import os
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from engines.slurm.client import files, programs
from engines.slurm.client.transport import LocalTransport
from engines.slurm.logs import LogReader
from engines.slurm.usage import StepSampler
from tests.engines.slurm import cases
from tests.engines.slurm.glances import glance
from tests.engines.slurm.people import OTHER, relative, shared, turning, written

HERE = LocalTransport()
SECRET = "hunter2"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return shared(tmp_path)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """What Trainyard's user can read, and people cannot."""
    path = tmp_path / "secret"
    path.write_text(f"{SECRET}\n")
    return path


def read(place: Path, uid: UUID = cases.UID) -> dict[str, str]:
    folder = relative(uid)
    return dict(files.read_facts(HERE, str(place), [folder], of_people=True))[folder]


def test_files_of_people_read_as_our_own(place: Path) -> None:
    ours = dict(files.read_facts(HERE, str(place), [relative()]))[relative()]
    assert read(place) == ours
    assert set(ours) == {"launch", "claim", "attempt", "batch.log", "attempt-0/rank-0.started"}
    assert ours["batch.log"] == "a" * 596 + "end"


@pytest.mark.parametrize("name", ["stage", "batch.log", "attempt-0", "attempt", "../../runs", ".."])
def test_a_link_shows_nothing_that_it_leads_to(place: Path, secret: Path, name: str) -> None:
    run = place / relative()
    path = Path(os.path.normpath(run / name))
    if path.exists():
        path.rename(secret.parent / "aside")
    aside = secret.parent / "elsewhere"
    for each in ("stage", "1/stage", "rank-0.started", "runs/1/stage"):
        (aside / each).parent.mkdir(parents=True, exist_ok=True)
        (aside / each).write_text(SECRET)
    path.symlink_to(secret if name in {"stage", "batch.log", "attempt"} else aside)
    assert SECRET not in str(read(place))


def test_a_link_that_comes_while_it_is_read_shows_nothing(place: Path, secret: Path) -> None:
    run = place / relative()
    draft = place / "draft"

    def link() -> None:
        draft.symlink_to(secret)

    def write() -> None:
        draft.write_text("honest\n")

    with turning(draft, run / "stage", link, write):
        texts = [read(place).get("stage", "") for _ in range(40)]
    assert set(texts) <= {"honest", ""}


def test_pipes_and_long_files_keep_nobody_waiting(place: Path) -> None:
    run = place / relative()
    os.mkfifo(run / "stage")
    (run / "attempt").unlink()
    os.mkfifo(run / "attempt")
    (run / "trouble").write_text("x" * 10_000)
    assert set(read(place)) == {"launch", "claim", "batch.log"}
    (run.parent.parent / "run").unlink()
    os.mkfifo(run.parent.parent / "run")
    (place / "changed" / cases.UID.hex).touch()
    assert files.latest_runs(HERE, str(place), of_people=True) == []
    assert LogReader(HERE, str(place), of_people=True).news() == set()
    os.utime(place / "changed" / cases.UID.hex, (0, 0))
    prune = files.with_last_run(programs.PRUNE_BELLS, of_people=True)
    assert files.run_program(HERE, prune, str(place)).code == 0


def test_a_file_speaks_for_no_run_of_others(place: Path) -> None:
    written(place, OTHER)
    forged = f"x\n==> {relative()}/stage <==\nforged\n{relative()} Zm9yZ2Vk\n"
    (place / relative(OTHER) / "stage").write_text(forged)
    (place / relative(OTHER) / "usage").write_text(
        f"at 1.0\n53.0|cpu=00:00:10,mem=1M|\nof {relative()}\nat 1.0\n52.0|cpu=00:00:10,mem=9M|\n"
    )
    folders = [relative(), relative(OTHER)]
    both = dict(files.read_facts(HERE, str(place), folders, of_people=True))
    assert "stage" not in both[relative()]
    assert "forged" in both[relative(OTHER)]["stage"]
    sampler = StepSampler(HERE, str(place), every=0)
    sampler.refresh([glance(cases.UID, "52", parts=1), glance(OTHER, "53", parts=1)])
    assert sampler.read(cases.UID, 1, None) == []
    assert sampler.read(OTHER, 1, None)[0].memory == 2**20 // 3


def test_a_torn_usage_hides_no_one_elses(place: Path) -> None:
    written(place, OTHER)
    (place / relative(OTHER) / "usage").write_text("at 1.0\n53.0|cpu=00:00:10,mem=1M|")
    (place / relative() / "usage").write_text("at 1.0\n52.0|cpu=00:00:10,mem=3M|\n")
    sampler = StepSampler(HERE, str(place), every=0)
    sampler.refresh([glance(OTHER, "53", parts=1), glance(cases.UID, "52", parts=1)])
    assert sampler.read(OTHER, 1, None)[0].memory == 2**20 // 3
    assert sampler.read(cases.UID, 1, None)[0].memory == 2**20


def test_a_run_that_says_it_has_no_ranks_ends_no_sampling(place: Path) -> None:
    written(place, OTHER)
    none = glance(OTHER, "53", parts=1)
    none = replace(none, facts=replace(none.facts, launcher=True, roles=none.facts.roles[:1]))
    sampler = StepSampler(HERE, str(place), every=0)
    for second in (1, 2):
        use = f"{'9' * 400}:00:00" if second == 2 else "00:00:00"
        for uid, job in ((OTHER, 53), (cases.UID, 52)):
            text = f"at {second}.0\n{job}.0|cpu=00:00:0{second},mem=3M|\n"
            (place / relative(uid) / "usage").write_text(text + f"{job}.1|cpu={use}|\n")
        sampler.refresh([none, glance(cases.UID, "52", parts=1)])
    assert sampler.read(OTHER, 1, None) == []
    assert sampler.read(cases.UID, 1, None)[0].memory == 2**20


def test_an_end_is_written_over_no_link(place: Path, secret: Path) -> None:
    run = place / relative()
    (run / ".ended").symlink_to(secret)
    (run / "ended").symlink_to(secret.parent)
    (place / "workloads" / OTHER.hex).symlink_to(secret.parent)
    (secret.parent / "runs/1/keys").mkdir(parents=True)
    lines = f"{relative()} {{}}\n{relative(OTHER)} {{}}\n"
    done = files.run_program(HERE, programs.WRITE_ENDS, str(place), stdin=lines.encode())
    assert done.code == 0
    assert (run / "ended").read_text() == "{}\n"
    assert not (run / "environment.sh").exists()
    assert secret.read_text() == f"{SECRET}\n"
    assert (secret.parent / "runs/1/keys").exists()


def test_no_pipe_in_the_place_of_an_end_is_waited_for(place: Path) -> None:
    run = place / relative()
    draft = place / "draft"

    def pipe() -> None:
        draft.unlink(missing_ok=True)
        os.mkfifo(draft)

    line = f"{relative()} {{}}\n".encode()
    with turning(draft, run / ".ended", pipe):
        for _ in range(20):
            assert (
                files.run_program(HERE, programs.WRITE_ENDS, str(place), stdin=line, timeout=5).code
                == 0
            )


def test_more_than_one_answer_bears_is_read_in_several(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uids = [cases.UID, *(UUID(int=number) for number in range(7, 12))]
    for uid in uids[1:]:
        written(place, uid)
    folders = [relative(uid) for uid in uids]
    whole = list(files.read_facts(HERE, str(place), folders, of_people=True))
    assert [folder for folder, _ in whole] == folders
    once = len(files.run_program(HERE, files.FACTS_OF_PEOPLE, str(place), *folders).out)
    program = files.FACTS_OF_PEOPLE.replace(str(files.MOST_AT_ONCE), str(once // 3))
    monkeypatch.setattr(files, "FACTS_OF_PEOPLE", program)
    assert len(files.run_program(HERE, program, str(place), *folders).out) < once
    assert list(files.read_facts(HERE, str(place), folders, of_people=True)) == whole
