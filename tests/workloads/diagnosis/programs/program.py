"""Reads the programs from their files: what each is, how it starts, and its own files."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent
EXECUTABLE = " +x"


@dataclass
class Program:
    """A program that fails in one of ``classes``. ``decisive`` are parts of the lines that may be
    marked as the cause."""

    classes: str
    name: str
    file: str
    command: str = ""
    decisive: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.classes} | {self.name}"

    @property
    def needs_gpu(self) -> bool:
        return self.file.startswith("gpu_")

    @property
    def is_alone(self) -> bool:
        """Whether it takes the memory of the whole GPU, so that nothing else may run on it."""
        return self.file == "gpu_memory"

    @property
    def limit_s(self) -> float:
        return 60 if self.needs_gpu else 240

    def write(self, folder: Path) -> None:
        """Write the program's files to a folder."""
        for name, text in self.files.items():
            path = folder / name.removesuffix(EXECUTABLE)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755 if name.endswith(EXECUTABLE) else 0o644)


def programs() -> Iterator[Program]:
    """Yield all programs."""
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
