"""The options of sbatch and srun, and how ``getopt_long`` finds them in words. Pure.

The tables have the options of Slurm 22.05 and 24.11, as ``getopt_long`` lists them there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum


class Takes(Enum):
    """What follows an option: always a value, a value only behind ``=``, or nothing."""

    VALUE = "a value"
    OPTIONAL = "a value behind ="
    NOTHING = "no value"


class FoundKind(Enum):
    OPTION = "an option of the table"
    UNKNOWN = "an option that is not in the table"
    WORD = "a word that belongs to no option"
    REFUSED = "an option that getopt_long refuses"


@dataclass(frozen=True)
class Found:
    """What the word with this index is. ``text`` is the value of an option, or the unknown option,
    the word, or the message."""

    kind: FoundKind
    index: int
    text: str
    name: str = ""


@dataclass(frozen=True)
class Ambiguous:
    """Several options begin with what was written."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class OptionTable:
    """The options of a program. ``aliases`` are second names. The oldest release does not have the
    ``recent`` ones."""

    with_value: frozenset[str]
    with_optional_value: frozenset[str]
    without_value: frozenset[str]
    letters: Mapping[str, str]
    aliases: Mapping[str, str]
    recent: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        own = self.with_value | self.with_optional_value | self.without_value
        return own | self.aliases.keys()

    def takes(self, name: str) -> Takes:
        """Return whether an option takes a value."""
        if name in self.without_value:
            return Takes.NOTHING
        return Takes.OPTIONAL if name in self.with_optional_value else Takes.VALUE

    def find(self, written: str) -> str | Ambiguous | None:
        """Return the name of an option that is written in full or abbreviated; ``None`` if there
        is none. An abbreviation that only recent options make ambiguous is the older option."""
        if written in self.names:
            return self.aliases.get(written, written)
        found = sorted(name for name in self.names if name.startswith(written))
        for candidates in (found, [name for name in found if name not in self.recent]):
            options = {self.aliases.get(name, name) for name in candidates}
            if len(options) == 1:
                return options.pop()
        return Ambiguous(tuple(found)) if found else None

    def read(self, words: Sequence[str]) -> Iterator[Found]:
        """Yield what ``getopt_long`` finds in the words. All words after ``--`` belong to no
        option."""
        return _OptionReader(self, words).read()


class _OptionReader:
    def __init__(self, table: OptionTable, words: Sequence[str]) -> None:
        self.table = table
        self.words = words
        self.next = 0

    def read(self) -> Iterator[Found]:
        while self.next < len(self.words):
            word = self.words[self.next]
            index = self.next
            self.next += 1
            if word == "--":
                rest = range(self.next, len(self.words))
                yield from (Found(FoundKind.WORD, at, self.words[at]) for at in rest)
                return
            if word.startswith("--"):
                yield self._read_long(index, word[2:])
            elif word.startswith("-") and word != "-":
                yield from self._read_letters(index, word[1:])
            else:
                yield Found(FoundKind.WORD, index, word)

    def _read_long(self, index: int, text: str) -> Found:
        written, equals, value = text.partition("=")
        name = self.table.find(written)
        if name is None:
            return Found(FoundKind.UNKNOWN, index, f"--{written}")
        if isinstance(name, Ambiguous):
            options = ", ".join(f"--{each}" for each in name.names)
            return Found(FoundKind.REFUSED, index, f"--{written} may be {options}; write it out")
        takes = self.table.takes(name)
        if equals and takes is Takes.NOTHING:
            return Found(FoundKind.REFUSED, index, f"--{name} takes no value")
        if equals or takes is not Takes.VALUE:
            return Found(FoundKind.OPTION, index, value, name)
        return self._with_next_word(index, name, f"--{name}")

    def _read_letters(self, index: int, letters: str) -> Iterator[Found]:
        for position, letter in enumerate(letters, 1):
            name = self.table.letters.get(letter)
            if name is None:
                yield Found(FoundKind.UNKNOWN, index, f"-{letter}")
                return
            takes = self.table.takes(name)
            if takes is Takes.NOTHING:
                yield Found(FoundKind.OPTION, index, "", name)
                continue
            if letters[position:] or takes is Takes.OPTIONAL:
                yield Found(FoundKind.OPTION, index, letters[position:], name)
            else:
                yield self._with_next_word(index, name, f"-{letter}")
            return

    def _with_next_word(self, index: int, name: str, written: str) -> Found:
        """Return an option whose value is the next word, even if that looks like an option."""
        if self.next == len(self.words):
            return Found(FoundKind.REFUSED, index, f"{written} needs a value")
        value = self.words[self.next]
        self.next += 1
        return Found(FoundKind.OPTION, index, value, name)


#: Options that sbatch and srun have in common.
WITH_VALUE = frozenset(
    {
        *("account", "acctg-freq", "autocomplete", "bb", "bbf", "begin", "chdir", "clusters"),
        *("cluster-constraint", "comment", "constraint", "container", "container-id", "context"),
        *("core-spec", "cores-per-socket", "cpu-freq", "cpus-per-gpu", "cpus-per-task"),
        *("deadline", "delay-boot", "dependency", "distribution", "error", "exclude", "export"),
        *("extra", "extra-node-info", "gid", "gpu-bind", "gpu-freq", "gpus", "gpus-per-node"),
        *("gpus-per-socket", "gpus-per-task", "gres", "gres-flags", "hint", "input", "job-name"),
        *("licenses", "mail-type", "mail-user", "mcs-label", "mem", "mem-bind", "mem-per-cpu"),
        *("mem-per-gpu", "mincpus", "network", "nodefile", "nodelist", "nodes", "ntasks"),
        *("ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node", "ntasks-per-socket"),
        *("ntasks-per-tres", "open-mode", "output", "partition", "power", "prefer", "priority"),
        *("profile", "qos", "reservation", "segment", "signal", "sockets-per-node", "switches"),
        *("thread-spec", "threads-per-core", "time", "time-min", "tmp", "tres-bind"),
        *("tres-per-task", "uid", "wckey"),
    }
)
WITH_OPTIONAL_VALUE = frozenset(
    {"exclusive", "nice", "no-kill", "oom-kill-step", "propagate", "resv-ports"}
)
WITHOUT_VALUE = frozenset(
    {
        *("contiguous", "help", "hold", "overcommit", "oversubscribe", "quiet", "reboot"),
        *("spread-job", "stepmgr", "test-only", "usage", "use-min-nodes", "verbose", "version"),
    }
)
LETTERS = {
    "A": "account",
    "B": "extra-node-info",
    "C": "constraint",
    "D": "chdir",
    "F": "nodefile",
    "G": "gpus",
    "H": "hold",
    "J": "job-name",
    "L": "licenses",
    "M": "clusters",
    "N": "nodes",
    "O": "overcommit",
    "Q": "quiet",
    "S": "core-spec",
    "V": "version",
    "b": "begin",
    "c": "cpus-per-task",
    "d": "dependency",
    "e": "error",
    "h": "help",
    "i": "input",
    "k": "no-kill",
    "m": "distribution",
    "n": "ntasks",
    "o": "output",
    "p": "partition",
    "q": "qos",
    "s": "oversubscribe",
    "t": "time",
    "v": "verbose",
    "w": "nodelist",
    "x": "exclude",
}
ALIASES = {"tasks-per-node": "ntasks-per-node", "cluster": "clusters"}
RECENT = frozenset(
    {
        *("autocomplete", "container-id", "extra", "oom-kill-step", "resv-ports", "segment"),
        *("stepmgr", "tres-bind", "tres-per-task"),
    }
)

SBATCH = OptionTable(
    with_value=WITH_VALUE
    | {"array", "batch", "export-file", "kill-on-invalid-dep", "wait-all-nodes", "wrap"},
    with_optional_value=WITH_OPTIONAL_VALUE | {"get-user-env"},
    without_value=WITHOUT_VALUE | {"ignore-pbs", "no-requeue", "parsable", "requeue", "wait"},
    letters=LETTERS | {"W": "wait", "a": "array"},
    aliases=ALIASES,
    recent=RECENT,
)
SRUN = OptionTable(
    with_value=WITH_VALUE
    | {"accel-bind", "bcast-exclude", "cpu-bind", "epilog", "het-group", "jobid", "mpi"}
    | {"msg-timeout", "pack-group", "prolog", "relative", "slurmd-debug", "task-epilog"}
    | {"task-prolog", "threads", "treewidth", "wait"},
    with_optional_value=WITH_OPTIONAL_VALUE
    | {"bcast", "compress", "external-launcher", "immediate", "kill-on-bad-exit", "overlap"}
    | {"pty", "send-libs"},
    without_value=WITHOUT_VALUE
    | {"debugger-test", "disable-status", "exact", "interactive", "label", "multi-prog"}
    | {"no-allocate", "preserve-env", "quit-on-interrupt", "unbuffered", "whole", "x11"},
    letters=LETTERS
    | {"E": "preserve-env", "I": "immediate", "K": "kill-on-bad-exit", "T": "threads"}
    | {"W": "wait", "X": "disable-status", "Z": "no-allocate", "l": "label", "r": "relative"}
    | {"u": "unbuffered"},
    aliases=ALIASES,
    recent=RECENT | {"external-launcher", "treewidth"},
)
