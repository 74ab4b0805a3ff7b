"""The programs as their files hold them: what each is, how it is started, and its files."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent
EXECUTABLE = " +x"


@dataclass
class Program:
    """``decisive`` are parts of lines, any of which may be marked."""

    classes: str
    name: str
    file: str
    command: str = ""
    decisive: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.classes} | {self.name}"

    def write(self, folder: Path) -> None:
        for name, text in self.files.items():
            path = folder / name.removesuffix(EXECUTABLE)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755 if name.endswith(EXECUTABLE) else 0o644)


def programs() -> Iterator[Program]:
    for path in sorted(FOLDER.glob("*.txt")):
        for part in ("\n" + path.read_text()).split("\n=== ")[1:]:
            yield _program(path.stem, part)


def _program(file: str, part: str) -> Program:
    head, *bodies = part.split("\n--- ")
    first, *lines = head.splitlines()
    classes, _, name = first.partition(" | ")
    program = Program(classes, name, file)
    for line in lines:
        if line.startswith("$ "):
            program.command = line.removeprefix("$ ")
        else:
            program.decisive.append(line.removeprefix("» "))
    for body in bodies:
        name, _, text = body.partition("\n")
        program.files[name] = text.rstrip("\n") + "\n"
    return program
