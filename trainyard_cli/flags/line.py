"""Turns a request into the command line that sends it."""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any

from trainyard_cli.flags.body import Body, Typed, apply_typed
from trainyard_cli.flags.items import get
from trainyard_cli.flags.table import (
    ARGS,
    COMMAND,
    FLAGS,
    MASTER_FLAGS,
    NO_MASTER,
    WORKLOAD_KEYS,
    CliFlag,
)
from trainyard_cli.flags.values import MASK, BadValue, NotWritable, as_json

FRAMEWORK = "distributedFramework"
#: Last part of a kind's path in REST, or framework → the command that submits it.
COMMANDS = {
    "trainings": "training standard",
    "workspaces": "workspace",
    "PyTorch": "training pytorch",
    "TF": "training tensorflow",
    "MPI": "training mpi",
    "XGBoost": "training xgboost",
    "JAX": "training jax",
}


class _MaskedShell(dict[str, str]):
    """Stands for the shell into which the line is pasted: its secrets are not known here."""

    def __missing__(self, _: str) -> str:
        return MASK

    def __contains__(self, _: object) -> bool:
        return True


def command_line(body: Body, path: str, project: str = "", *, template: str = "") -> str:
    """Return the command line of a request, to paste into a shell.

    ``path`` is that of the kind, such as ``distributed``. Parsed again, the line gives the same
    request. Secret values are left to the variables of the shell.
    """
    spec = body.get("spec", {})
    framework = spec.get(FRAMEWORK) if path == "distributed" else path
    command = COMMANDS.get(str(framework), "distributed")
    if "training" in command or command == "workspace":
        words = ["trainyard", *command.split(), "submit"]
    else:
        words = ["trainyard", "distributed", "submit"]
    groups: list[list[str]] = [words + ([body["name"]] if body.get("name") else [])]
    if project:
        groups.append(["--project", project])
    if template:
        groups.append(["--template", template])
    wanted = {key: value for key, value in body.items() if key in {"spec", "masterSpec", NO_MASTER}}
    wanted["spec"] = {key: value for key, value in spec.items() if key != FRAMEWORK}
    typed = typing_for(wanted)
    groups += _flag_groups(typed)
    return _wrap(groups, list(typed.words))


def typing_for(body: Body) -> Typed:
    """Return what to type for a request: flags where they can say it, else ``--set``."""
    spec = body["spec"]
    typed = Typed(flags=_flags_for(FLAGS, spec), no_master=True if body.get(NO_MASTER) else None)
    typed = _add_words(typed, spec)
    built = apply_typed({}, typed, _MaskedShell())["spec"]
    wrong = list(_differing(built, spec))
    typed = replace(typed, flags=_drop_covered(FLAGS, typed.flags, wrong), sets=_sets(spec, wrong))
    master = body.get("masterSpec")
    return typed if master is None else _add_master(typed, body, master)


def _add_master(typed: Typed, body: Body, master: Body) -> Typed:
    """Add what to type for a master with its own setup, as far as it differs from the workers'."""
    spec = body["spec"]
    worker = {key: value for key, value in spec.items() if key not in WORKLOAD_KEYS}
    changed = [it for it in MASTER_FLAGS if get(worker, it.path) != get(master, it.path)]
    flags = _flags_for((it for it in changed if not it.kind.many), master)
    typed = replace(typed, master=flags)
    command = master.get(COMMAND)
    if command != worker.get(COMMAND) and isinstance(command, str):
        typed = replace(typed, master_command=command)
    base = {"spec": deepcopy(worker)}
    # A master whose setup equals the workers' still needs a flag, so that it has its own.
    master_typed = Typed(master=typed.master, master_command=typed.master_command)
    built = apply_typed(base, master_typed, _MaskedShell()).get("masterSpec", worker)
    wrong = list(_differing(built, master))
    sets = _sets(master, wrong)
    if not (flags or typed.master_command or sets):
        sets = _sets(master, [next((it for it in ("image", COMMAND) if it in master), "image")])
    remaining = _drop_covered(MASTER_FLAGS, flags, wrong)
    return replace(typed, master=remaining, master_sets=sets)


def _flags_for(flags: Iterable[CliFlag], spec: Body) -> dict[str, Any]:
    """Return the texts of the flags that give the values in ``spec``, by the key of each flag."""
    typed: dict[str, Any] = {}
    by_path: defaultdict[str, list[CliFlag]] = defaultdict(list)
    for flag in flags:
        by_path[flag.path].append(flag)
    for path, rows in by_path.items():
        value = get(spec, path)
        if rows[0].kind.switch:
            if isinstance(value, bool):
                typed[rows[0].key] = value
        elif not rows[0].kind.many:
            typed |= dict(_exact_texts(rows, value))
        elif isinstance(value, list):
            for item in value:
                for key, text in _exact_texts(rows, item):
                    typed.setdefault(key, []).append(text)
    return typed


def _exact_texts(rows: list[CliFlag], value: Any) -> Iterator[tuple[str, str]]:
    """Yield the key of the first flag that can give exactly this value, with the text to type.
    No flag can give some values of drafts."""
    for flag in rows:
        with suppress(NotWritable, BadValue):
            text = flag.kind.write(value)
            if flag.kind.read(text, _MaskedShell()) == value:
                yield flag.key, text
                return


def _add_words(typed: Typed, spec: Body) -> Typed:
    """Return ``typed`` with the words after ``--``: the command, or the arguments if the command
    of the image runs."""
    command = spec.get(COMMAND)
    args = spec.get(ARGS)
    if words := _split(command):
        return replace(typed, words=words, is_command=True)
    if command is None and (words := _split(args)):
        flags = {key: value for key, value in typed.flags.items() if key != "args"}
        return replace(typed, flags=flags, words=words)
    return typed


def _split(text: Any) -> list[str]:
    """Return the words of a line if a shell would quote them exactly so, else none."""
    try:
        words = shlex.split(text) if isinstance(text, str) else []
    except ValueError:
        return []
    return words if words and shlex.join(words) == text and "--" not in words else []


def _differing(built: Body, wanted: Body) -> Iterable[str]:
    """Yield the paths where two specs differ, at most one level below the top."""
    for key in {**wanted, **built}:
        built_value = built.get(key)
        wanted_value = wanted.get(key)
        if built_value == wanted_value and (key in built) == (key in wanted):
            continue
        if isinstance(built_value, dict) and isinstance(wanted_value, dict) and wanted_value:
            yield from (
                f"{key}.{it}"
                for it in {**wanted_value, **built_value}
                if built_value.get(it) != wanted_value.get(it)
            )
        else:
            yield key


def _sets(spec: Body, paths: Iterable[str]) -> list[str]:
    return [f"{path}={as_json(get(spec, path))}" for path in paths]


def _drop_covered(flags: Iterable[CliFlag], typed: Any, paths: list[str]) -> dict[str, Any]:
    """Drop the flags whose values ``--set`` gives."""
    dropped = {it.key for it in flags if any(_is_within(it.path, path) for path in paths)}
    return {key: value for key, value in typed.items() if key not in dropped}


def _is_within(path: str, above: str) -> bool:
    return path == above or path.startswith(f"{above}.")


def _flag_groups(typed: Typed) -> list[list[str]]:
    """Return what to type, grouped by flag, in the order of the table."""
    groups = [["--no-master"]] if typed.no_master else []
    for flag in FLAGS:
        groups += _flag_words(flag, flag.name, typed.flags.get(flag.key))
    groups += [["--set", text] for text in typed.sets]
    for flag in MASTER_FLAGS:
        groups += _flag_words(flag, flag.master_names[0], typed.master.get(flag.key))
    if typed.master_command is not None:
        groups.append(_join_flag("--master-command", typed.master_command))
    groups += [["--master-set", text] for text in typed.master_sets]
    return groups + ([["--command"]] if typed.is_command else [])


def _flag_words(flag: CliFlag, name: str, value: Any) -> list[list[str]]:
    if value is None:
        return []
    if flag.kind.switch:
        return [[name if value else f"--no-{name[2:]}"]]
    texts = value if isinstance(value, list) else [value]
    return [_join_flag(name, text) for text in texts]


def _join_flag(name: str, text: str) -> list[str]:
    """Return a flag and its text. A text that looks like a flag is joined to it by an
    equals sign."""
    return [f"{name}={text}"] if text.startswith("-") or not text else [name, text]


def _wrap(groups: list[list[str]], words: list[str]) -> str:
    """Return the line with one flag per line. The command after ``--`` stays on the line of its
    flag."""
    tail = ["--", *words] if words else []
    if tail and groups[-1] == ["--command"]:
        tail = [*groups.pop(), *tail]
    return " \\\n  ".join(map(shlex.join, [*groups, *([tail] if tail else [])]))
