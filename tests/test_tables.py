"""Tables of the documents that say what the code holds: defaults, permissions and exit codes."""

import re
from pathlib import Path

from tests.texts import read
from trainer import errors as of_trainings
from trainyard_cli.errors import ExitCode

CELL = re.compile(r"(?<!\\)\|")
DEFAULT = re.compile(r"env_int\(\"(?P<name>\w+)\", (?P<number>\d+)[,)]")


def rows(page: str, head: str) -> list[list[str]]:
    """The cells of the table whose head begins so."""
    _, _, table = read(Path(page)).partition(f"\n| {head} |")
    lines = table.split("\n\n")[0].splitlines()[2:]
    assert lines, f"{page} has no table {head}"
    return [[cell.strip() for cell in CELL.split(line)[1:-1]] for line in lines]


def test_the_page_on_operations_has_the_defaults_of_the_settings() -> None:
    defaults = dict(DEFAULT.findall(read(Path("config/settings.py"))))
    numbers = {
        name: re.findall(r"\d+", default.replace(",", ""))[:1]
        for _, default, change in rows("docs/operations.md", "| default")
        for name in re.findall(r"`(\w+)=", change)[:1]
        if name in defaults
    }
    assert len(numbers) > 6
    assert numbers == {name: [defaults[name]] for name in numbers}


def test_the_page_on_the_trainer_has_its_exit_codes() -> None:
    kinds = [kind for kind in vars(of_trainings).values() if isinstance(kind, type)]
    codes = {kind.exit_code for kind in kinds if issubclass(kind, of_trainings.TrainerError)}
    listed = {int(code) for code, *_ in rows("docs/trainer.md", "code")}
    assert listed == {0, 130, *codes}


def test_the_page_on_the_command_line_has_its_exit_codes() -> None:
    listed = {code for code, _ in rows("docs/cli.md", "exit code")}
    assert listed == {"0", "other", *(str(code.value) for code in ExitCode)}
