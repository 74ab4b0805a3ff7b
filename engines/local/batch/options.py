"""Reads the command line of ``srun`` as getopt does for Slurm's own."""

from collections.abc import Sequence
from dataclasses import dataclass, field

SHORT = {
    **{"A": "account", "B": "extra-node-info", "c": "cpus-per-task", "C": "constraint"},
    **{"d": "dependency", "D": "chdir", "e": "error", "F": "nodefile", "G": "gpus"},
    **{"i": "input", "J": "job-name", "L": "licenses", "m": "distribution", "M": "clusters"},
    **{"n": "ntasks", "N": "nodes", "o": "output", "p": "partition", "q": "qos"},
    **{"r": "relative", "S": "core-spec", "t": "time", "T": "threads", "w": "nodelist"},
    **{"W": "wait", "x": "exclude", "K": "kill-on-bad-exit", "O": "overcommit", "l": "label"},
    **{"E": "preserve-env", "H": "hold", "I": "immediate", "k": "no-kill", "Q": "quiet"},
    **{"s": "oversubscribe", "u": "unbuffered", "v": "verbose", "X": "disable-status"},
    **{"Z": "no-allocate", "V": "version", "h": "help", "b": "begin"},
}
WITHOUT_VALUE = frozenset(
    {
        *("overcommit", "label", "preserve-env", "hold", "no-kill", "quiet", "oversubscribe"),
        *("unbuffered", "verbose", "disable-status", "no-allocate", "version", "help", "usage"),
        *("exact", "overlap", "pty", "multi-prog", "contiguous", "spread-job", "reboot", "whole"),
        *("requeue", "no-requeue", "use-min-nodes", "send-libs", "debugger-test", "whole-node"),
        *("interactive", "parallel-debug", "slurmd-debug", "external-launcher"),
    }
)
#: A value only counts if it is in the same word, as in ``-K0`` and ``--exclusive=user``.
WITH_OPTIONAL_VALUE = frozenset(
    {
        "kill-on-bad-exit",
        "exclusive",
        "immediate",
        "nice",
        "propagate",
        "x11",
        "compress",
        "resv-ports",
    }
)
WITH_VALUE = frozenset(
    {
        *("account", "extra-node-info", "cpus-per-task", "constraint", "dependency", "chdir"),
        *("error", "nodefile", "gpus", "input", "job-name", "licenses", "distribution", "clusters"),
        *("ntasks", "nodes", "output", "partition", "qos", "relative", "core-spec", "time"),
        *("threads", "nodelist", "wait", "exclude", "begin", "acctg-freq", "bb", "bbf", "bcast"),
        *("cluster-constraint", "comment", "container", "cores-per-socket", "cpu-bind", "cpu-freq"),
        *("cpus-per-gpu", "deadline", "delay-boot", "epilog", "export", "gpu-bind", "gpu-freq"),
        *("gpus-per-node", "gpus-per-socket", "gpus-per-task", "gres", "gres-flags", "het-group"),
        *("hint", "jobid", "mail-type", "mail-user", "max-exit-timeout", "mcs-label", "mem"),
        *("mem-bind", "mem-per-cpu", "mem-per-gpu", "mincpus", "mpi", "msg-timeout", "network"),
        *("ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node", "ntasks-per-socket"),
        *("ntasks-per-tres", "open-mode", "power", "prefer", "priority", "profile", "prolog"),
        *("reservation", "signal", "slurmd-debug", "sockets-per-node", "switches", "task-epilog"),
        *("task-prolog", "thread-spec", "threads-per-core", "time-min", "tmp", "tres-bind"),
        *("tres-per-task", "uid", "gid", "wckey", "container-image", "container-mounts"),
        *("container-workdir", "container-name", "container-env", "container-id"),
    }
)
ALIASES = {"tasks": "ntasks", "tasks-per-node": "ntasks-per-node", "workdir": "chdir"}
NAMES = WITHOUT_VALUE | WITH_OPTIONAL_VALUE | WITH_VALUE | ALIASES.keys()


class OptionError(Exception):
    """The command line is wrong; the message says how, in the words of getopt."""


@dataclass
class CommandLine:
    """Options by their long names, and the program with its arguments. An option without a value
    has an empty one."""

    options: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)


def parse_command_line(words: Sequence[str]) -> CommandLine:
    """Read the words after ``srun``. Raises ``OptionError``."""
    result = CommandLine()
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        if word == "--":
            break
        if word.startswith("--"):
            _read_long_option(word, rest, result)
        else:
            _read_short_options(word, rest, result)
    result.command = rest
    return result


def _read_long_option(word: str, rest: list[str], result: CommandLine) -> None:
    given, equals, value = word[2:].partition("=")
    name = _complete_name(given)
    if name in WITHOUT_VALUE:
        if equals:
            raise OptionError(f"option '--{name}' doesn't allow an argument")
    elif name in WITH_VALUE and not equals:
        value = _take_value(f"'--{name}'", rest)
    result.options[name] = value


def _complete_name(given: str) -> str:
    """Return the full name of an option, which may be abbreviated as long as it is clear."""
    matches = {given} if given in NAMES else {name for name in NAMES if name.startswith(given)}
    meanings = {ALIASES.get(name, name) for name in matches}
    if not meanings:
        raise OptionError(f"unrecognized option '--{given}'")
    if len(meanings) > 1:
        raise OptionError(
            f"option '--{given}' is ambiguous: it may be --{', --'.join(sorted(meanings))}"
        )
    return meanings.pop()


def _read_short_options(word: str, rest: list[str], result: CommandLine) -> None:
    letters = word[1:]
    while letters:
        letter = letters[0]
        letters = letters[1:]
        if letter not in SHORT:
            raise OptionError(f"invalid option -- '{letter}'")
        name = SHORT[letter]
        value = ""
        if name in WITH_VALUE:
            value = letters.removeprefix("=") or _take_value(f"-- '{letter}'", rest)
            letters = ""
        elif name in WITH_OPTIONAL_VALUE:
            value = letters
            letters = ""
        result.options[name] = value


def _take_value(label: str, rest: list[str]) -> str:
    if not rest:
        raise OptionError(f"option {label} requires an argument")
    return rest.pop(0)
