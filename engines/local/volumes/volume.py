"""What a supervisor is told of one volume of a rank."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from spec.data.places import variable_of

GIT = "git"  # a repository, fetched before the ranks start
S3 = "s3"  # a bucket, likewise
MEMORY = "memory"  # empty at each start, in memory where it is mounted
EMPTY = "empty"  # empty at the start of each run
FOLDER = "folder"
FILES = "files"  # that the launch brings, written before the ranks start
CLAIMS = "../../claims/"  # where those of projects are
Keys = Mapping[str, str]  # what a credential holds, by the names of its keys


@dataclass(frozen=True)
class Volume:
    """A folder at ``place``, or one ``file`` of it. ``source`` is absolute, or below the folder of
    the workload; ``{run}`` and ``{rank}`` in it are filled in at the start."""

    kind: str
    place: str
    source: str
    is_ours: bool = True  # created where it is missing, readable by nobody else
    read_only: bool = False
    limit: int | None = None  # bytes
    origin: str = ""  # of what is fetched
    url: str = ""  # of the service that has it, where the origin does not say
    branch: str = ""
    revision: str = ""
    credential: str = ""  # the id of the one that opens it
    mode: int = 0o600  # of the files that the launch brings
    file: str = ""  # the only one that is seen, where not the whole folder is

    @property
    def is_named(self) -> bool:
        """Whether it is a claim of the project, which other workloads may have as well."""
        return self.source.startswith(CLAIMS)

    @property
    def variable(self) -> str:
        return variable_of(self.place)


@dataclass(frozen=True)
class Fetcher:
    """How one kind of volume is fetched: by ``steps``, programs that bring it to a folder one after
    the other, with ``variables``, whose files are in a folder that nobody else reads and that goes
    right after. From what they print: how far they are, and what is wrong."""

    steps: Callable[[Volume, Path], Iterator[list[str]]]
    variables: Callable[[Volume, Keys, Path], Mapping[str, str]]
    progress: Callable[[str], str]
    trouble: Callable[[Volume, str], str]
