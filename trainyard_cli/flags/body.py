"""Turns flags into the request of a submission."""

import shlex
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from trainyard_cli.flags.items import get, put
from trainyard_cli.flags.table import (
    ARGS,
    COMMAND,
    FLAGS,
    MASTER_FLAGS,
    NO_MASTER,
    VARIABLE_PATH,
    WORKLOAD_KEYS,
    CliFlag,
)
from trainyard_cli.flags.values import BadValue, Environ, FlagTexts, json_or_text

Body = dict[str, Any]
CUSTOM_USER = ("security.runAsUid", "security.runAsGid", "security.supplementalGroups")
GPU_PARTS = (
    *("compute.gpuRequestType", "compute.gpuPortionRequest", "compute.gpuPortionLimit"),
    *("compute.gpuMemoryRequest", "compute.gpuMemoryLimit"),
)
DEVICES = "compute.gpuDevicesRequest"
NODE_AFFINITY = "nodeAffinityRequired"
TERMS = "nodeSelectorTerms"
EXPRESSIONS = "matchExpressions"
HOST_LABEL = "kubernetes.io/hostname"


@dataclass(frozen=True)
class Typed:
    """The flags and words of one command line.

    ``flags`` maps the key of each flag to what was typed: a text, texts, or a switch. ``master`` is
    the same for the flags of the master. ``words`` came after ``--``; they are arguments, or with
    ``is_command`` the command. ``sets`` are ``PATH=VALUE``, and override everything else.
    """

    flags: FlagTexts = field(default_factory=dict)
    master: FlagTexts = field(default_factory=dict)
    words: Sequence[str] = ()
    is_command: bool = False
    master_command: str | None = None
    no_master: bool | None = None
    master_no_pvcs: bool = False
    sets: Sequence[str] = ()
    master_sets: Sequence[str] = ()


def apply_typed(body: Body, typed: Typed, environ: Environ) -> Body:
    """Return a copy of the request with what was typed on top.

    ``environ`` has the variables of the shell, for flags that pass one on. Raises ``BadValue``,
    which names the flag that is wrong.
    """
    body = deepcopy(body)
    spec: Body = body.setdefault("spec", {})
    _apply_flags(spec, FLAGS, typed.flags, environ)
    if typed.words or typed.is_command:
        if not typed.words:
            raise BadValue("--command: write the command after --, such as -- python train.py")
        spec[COMMAND if typed.is_command else ARGS] = shlex.join(typed.words)
    _apply_sets(spec, typed.sets, "--set")
    if typed.no_master is not None:
        body[NO_MASTER] = typed.no_master
    master = _master_spec(body, typed, environ)
    if master:
        body["masterSpec"] = master
    return body


def exclude_nodes(body: Body, texts: Iterable[str]) -> Body:
    """Return the request with a condition that keeps its pods off these nodes, in addition to its
    own. Each text has one name, or several with commas between them."""
    names = [name for text in texts for name in text.split(",") if name]
    if not names:
        return body
    condition = {"key": HOST_LABEL, "operator": "NotIn", "values": names}
    body = deepcopy(body)
    for spec in filter(None, (body["spec"], body.get("masterSpec"))):
        terms = get(spec, f"{NODE_AFFINITY}.{TERMS}") or [{}]
        terms = [{EXPRESSIONS: [*(it.get(EXPRESSIONS) or []), condition]} for it in terms]
        spec[NODE_AFFINITY] = {TERMS: terms}
    return body


def _apply_flags(
    spec: Body, flags: Iterable[CliFlag], typed: FlagTexts, environ: Environ, prefix: str = "--"
) -> None:
    """Put typed flags into a spec. The first item for a list replaces the list, except for
    variables, which are added. Raises ``BadValue``."""
    replaced: set[str] = set()  # paths of lists that this command line has replaced
    for flag in flags:
        texts = typed.get(flag.key)
        if texts is None or texts == []:
            continue
        name = prefix + flag.name[2:]
        if flag.kind.switch:
            put(spec, flag.path, bool(texts))
        elif not flag.kind.many:
            put(spec, flag.path, _read(flag, texts, environ, name))
        else:
            if flag.path not in replaced and flag.path != VARIABLE_PATH:
                put(spec, flag.path, [])
            replaced.add(flag.path)
            for text in texts:
                _append(spec, flag, _read(flag, text, environ, name))
    _set_implied(spec, {flag.path for flag in flags if typed.get(flag.key) not in (None, [])})


def _read(flag: CliFlag, text: str, environ: Environ, name: str) -> Any:
    try:
        return flag.kind.read(text, environ)
    except BadValue as error:
        raise BadValue(f"{name}: {error}") from None


def _append(spec: Body, flag: CliFlag, item: Any) -> None:
    """Append an item to the list of a flag.

    Node pools may be several words of one text. A variable that exists already gets the new value.
    """
    items = list(get(spec, flag.path) or [])
    new = item.replace(",", " ").split() if flag.path == "nodePools" else [item]
    if flag.path == VARIABLE_PATH:
        names = [it.get("name") for it in items]
        if item["name"] in names:
            items[names.index(item["name"])] = item
            new = []
    put(spec, flag.path, items + new)


def _set_implied(spec: Body, typed_paths: set[str]) -> None:
    """Set the fields that follow from other flags, so that nobody has to type them.

    ``typed_paths`` has the paths of the flags that were typed.
    """
    if (
        any(path in typed_paths for path in CUSTOM_USER)
        and "security.uidGidSource" not in typed_paths
    ):
        put(spec, "security.uidGidSource", "custom")
    compute = spec.get("compute")
    if not isinstance(compute, dict):
        return
    if DEVICES in typed_paths:
        for path in GPU_PARTS:
            if path not in typed_paths:
                compute.pop(path.partition(".")[2], None)
    devices = compute.get("gpuDevicesRequest")
    if isinstance(devices, float):  # a part of one GPU
        compute["gpuDevicesRequest"] = 1
        compute.setdefault("gpuPortionRequest", devices)
    for part, kind in (("gpuPortionRequest", "portion"), ("gpuMemoryRequest", "memory")):
        if f"compute.{part}" in typed_paths or (isinstance(devices, float) and part in compute):
            compute.setdefault("gpuRequestType", kind)
            compute.setdefault("gpuDevicesRequest", 1)


def _master_spec(body: Body, typed: Typed, environ: Environ) -> Body | None:
    """Return the master's setup: that of the workers, with what was typed for the master.
    ``None`` if nothing was."""
    if not _is_master_typed(typed):
        return None
    shared = {key: value for key, value in body["spec"].items() if key not in WORKLOAD_KEYS}
    master: Body = deepcopy(body.get("masterSpec") or shared)
    flags = _drop_variables(master, typed.master)
    _apply_flags(master, MASTER_FLAGS, flags, environ, "--master-")
    if typed.master_command is not None:
        master[COMMAND] = typed.master_command
    if typed.master_no_pvcs and isinstance(master.get("storage"), dict):
        master["storage"].pop("pvc", None)
    _apply_sets(master, typed.master_sets, "--master-set")
    return master


def _is_master_typed(typed: Typed) -> bool:
    has_flags = any(value not in (None, []) for value in typed.master.values())
    return bool(has_flags or typed.master_command or typed.master_sets or typed.master_no_pvcs)


def _drop_variables(master: Body, flags: FlagTexts) -> FlagTexts:
    """Remove the variables that were typed as ``NAME=-`` from the master, and return the flags
    without them."""
    texts = flags.get("environment_variable") or []
    dropped = [text.removesuffix("=-") for text in texts if text.endswith("=-")]
    if not dropped:
        return flags
    variables = master.get(VARIABLE_PATH, [])
    master[VARIABLE_PATH] = [it for it in variables if it["name"] not in dropped]
    return {**flags, "environment_variable": [it for it in texts if not it.endswith("=-")]}


def _apply_sets(spec: Body, texts: Iterable[str], name: str) -> None:
    """Put ``PATH=VALUE`` into a spec; ``null`` removes the field. Raises ``BadValue``."""
    for text in texts:
        path, equals, value = text.partition("=")
        if not (path and equals):
            raise BadValue(f"{name}: {text!r} is not PATH=VALUE, such as probes={{}}")
        parsed = json_or_text(value)
        above, _, last = path.rpartition(".")
        holder = get(spec, above) if above else spec
        if parsed is not None:
            put(spec, path, parsed)
        elif isinstance(holder, dict):
            holder.pop(last, None)
