"""What runs before the program of a rank, in the shell that becomes it."""

import shutil
from pathlib import Path
from typing import Any

import psutil
import pytest

from engines.base import Launch
from engines.local.planning import setup
from engines.local.planning.lookup import Programs
from engines.local.planning.planner import complaints
from engines.local.records.state import Record
from spec.phases import Phase
from spec.values.variable import EnvironmentVariable
from spec.workload import Replica
from tests.engines.contract import launch
from tests.engines.local.conftest import IMAGES, LocalRig
from tests.waiting import wait_for


def test_the_program_has_what_the_lines_set(rig: LocalRig) -> None:
    lines = ("greeting='hello you'", 'export SAID="$greeting, rank $RANK"', "cd /")
    launched = rig.submit(rig.shell('echo "$SAID"; pwd', setup=lines))
    assert rig.over(launched).phase is Phase.COMPLETED
    assert rig.log(launched, 0) == "hello you, rank 0\n/\n"
    assert rig.log(launched, 1) == "hello you, rank 1\n/\n"


@pytest.mark.parametrize(
    ("lines", "code", "line"),
    [
        (("true", "(exit 7)"), 7, " line 2"),
        (("no-such-program",), 127, " line 1"),
        (("true", "source ./broken.sh"), 3, " line 2"),
        (("if true; then", "(exit 4)", "fi"), 4, " line 2"),
        (("f() { return 5; }", "f"), 5, " line 2"),
        (("set -u", "echo $NOBODY_SET_IT"), 127, ""),
        (("exit 6",), 6, ""),
        (("fi",), 2, ""),
    ],
)
def test_a_line_that_fails_ends_the_rank_and_says_so(
    rig: LocalRig, tmp_path: Path, lines: tuple[str, ...], code: int, line: str
) -> None:
    (tmp_path / "broken.sh").write_text("true\n(exit 3)\n")
    worker = Replica(image="any", command="echo started", working_dir=str(tmp_path))
    fields: dict[str, Any] = {"architecture": "workers_only", "backoff_limit": 0}
    launched = rig.submit(launch("true", worker=worker, setup=lines, **fields))
    seen = rig.over(launched)
    assert (seen.phase, seen.ranks[0].exit_code) == (Phase.FAILED, code)
    output = rig.log(launched)
    assert f"Setup{line} ended with exit code {code}. The program was not started.\n" in output
    assert "started\n" not in output.replace("not started.\n", "")


def test_references_of_kubernetes_are_for_the_command_alone(rig: LocalRig) -> None:
    variable = EnvironmentVariable(name="pwd", value="not this")
    worker = Replica(
        image="any",
        command="echo $(pwd) $(A)",
        working_dir="/",
        environment_variables=(variable, EnvironmentVariable(name="A", value="x  y")),
    )
    fields: dict[str, Any] = {"architecture": "workers_only", "setup": ("echo $(pwd)",)}
    launched = rig.submit(launch("true", worker=worker, **fields))
    assert rig.over(launched).phase is Phase.COMPLETED
    assert rig.log(launched) == "/\nnot this x  y\n"


def test_the_program_takes_the_place_of_the_shell(rig: LocalRig) -> None:
    """So that a signal reaches it, and no command line shows the lines."""
    launched = rig.submit(rig.shell("sleep 60", setup=("export A=visible-to-nobody", "sleep 0.2")))
    running = wait_for(lambda: _words(rig, launched))
    assert not any("visible-to-nobody" in " ".join(words) for words in running)
    wait_for(lambda: [words[:1] for words in _words(rig, launched)] == [["/bin/sh"]] * 2)
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED
    assert rig.folder(launched).setup_script(1).stat().st_mode & 0o077 == 0


def _words(rig: LocalRig, launched: Launch) -> list[list[str]]:
    """The command lines of the ranks."""
    record = Record.read(rig.folder(launched))
    return [psutil.Process(it.pid).cmdline() for it in record.ranks if it.pid] if record else []


def test_a_program_that_the_setup_may_bring_is_not_missed(rig: LocalRig) -> None:
    without_setup = launch("true", worker=Replica(image="any", command="comes-later --x"))
    assert [it.field for it in complaints(without_setup, Programs(IMAGES))] == ["worker.command"]
    brought = launch("true", worker=without_setup.spec.worker, setup=("export PATH=$PATH:/opt/it",))
    assert not list(complaints(brought, Programs(IMAGES)))


def test_a_machine_without_bash_refuses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *args, **kwargs: None)
    with_setup = launch("/bin/true", setup=("true",))
    messages = {it.field: it.message for it in complaints(with_setup, Programs(IMAGES))}
    assert messages["setup"].startswith("this machine has no bash")


def test_the_preview_shows_the_lines(rig: LocalRig) -> None:
    document = rig.engine.render(launch("true", setup=("module load cuda",)))[0]
    assert (document["setup"], document["command"]) == (["module load cuda"], "true")
    assert "setup" not in rig.engine.render(launch("true"))[0]
    assert setup.wrap_command(["true"], None) == ["true"]
