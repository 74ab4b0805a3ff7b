"""How the content of a volume is fetched; each kind has a module of its own."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engines.local.records.volume import Volume

Keys = Mapping[str, str]  # values of a credential, by their keys


@dataclass(frozen=True)
class Fetcher:
    """How one kind of volume is fetched.

    ``steps`` are programs that bring it to a folder, one after the other. ``variables`` are their
    environment; files for them go to a private folder that is deleted right after. ``progress`` and
    ``trouble`` turn their output into words: how far they are, and what is wrong.
    """

    steps: Callable[[Volume, Path], Iterator[list[str]]]
    variables: Callable[[Volume, Keys, Path], Mapping[str, str]]
    progress: Callable[[str], str]
    trouble: Callable[[Volume, str], str]
