"""Describes how the content of a volume is fetched. Each kind has a module of its own."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engines.local.records.volume import Volume

Keys = Mapping[str, str]  # values of a credential, by their keys


@dataclass(frozen=True)
class Fetcher:
    """How one kind of volume is fetched.

    ``commands`` bring it to a folder, one after the other. ``variables`` are their environment;
    files for them go to a private folder that is deleted right after. ``describe_progress`` and
    ``describe_failure`` turn the output of the commands into words.
    """

    commands: Callable[[Volume, Path], Iterator[list[str]]]
    variables: Callable[[Volume, Keys, Path], Mapping[str, str]]
    describe_progress: Callable[[str], str]
    describe_failure: Callable[[Volume, str], str]
