"""Changes the document of a group so that it runs where OSMO's pods would not: on one machine,
whose ranks share ports, and in fewer processes than the file was written for."""

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The port of torch's rendezvous that scripts contain literally.
USUAL_PORT = re.compile(r"(?<![0-9.])29500(?![0-9.])")
#: The flags of a program that starts some of the ranks itself, in any order on one line.
FLAG = re.compile(r"--(offset|size|world_size)([ =]+)([0-9]{1,6})(?![0-9])")
FLAGS = {"offset", "size", "world_size"}
SIZE_EXAMPLE = "processes=2 gpus=0 cpu=1 memory=2G"
#: What a size of tasks can say: its form, and its type.
SIZES: dict[str, tuple[re.Pattern[str], Callable[[str], Any]]] = {
    "processes": (re.compile("[1-9][0-9]{0,2}"), int),
    "gpus": (re.compile("[0-9]{1,2}"), int),
    "cpu": (re.compile(r"[0-9]{1,4}(\.[0-9]{1,3})?"), float),
    "memory": (re.compile("[1-9][0-9]{0,8}([kKMGT]i?)?"), str),
}
#: Fields of ``compute``.
REQUESTS = {
    "gpus": "gpuDevicesRequest",
    "cpu": "cpuCoreRequest",
    "memory": "cpuMemoryRequest",
}
PROGRAMS = Path(__file__).with_name("programs")
PROGRAM_NAMES = ("nc", "nslookup")
PROGRAM_FOLDER = "/osmo/usr/bin"
#: At the end, so that the programs of the machine win.
SETUP = (f"export PATH=$PATH:{PROGRAM_FOLDER}",)


@dataclass(frozen=True)
class RewrittenDocument:
    """A document, and the places in it that are no longer as in the file, in words."""

    document: dict[str, Any]
    places: tuple[str, ...]


def prepare_for_machine(document: Mapping[str, Any], port: int) -> RewrittenDocument:
    """Return a document for ranks that share a machine with others: with ``port`` for the usual
    one, on which two runs would meet, and with the programs ``nc`` and ``nslookup`` where the
    machine has none."""
    rewritten = _rewrite_texts(document, lambda text: USUAL_PORT.sub(str(port), text))
    for pod in _pods(rewritten.document):
        storage = pod.setdefault("storage", {})
        storage["configMapVolume"] = [*storage.get("configMapVolume", []), _program_volume()]
    setup = [*rewritten.document.get("setup", []), *SETUP]
    return RewrittenDocument(rewritten.document | {"setup": setup}, rewritten.places)


def parse_size(text: str) -> dict[str, Any]:
    """Parse a size of tasks, such as ``processes=2 gpus=0 cpu=1 memory=2G``, whose words can be
    left out. Raises ``ValueError``, which names the wrong word."""
    size: dict[str, Any] = {}
    for word in text.replace(",", " ").split():
        name, _, value = word.partition("=")
        if name not in SIZES:
            raise ValueError(f"{word!r} is not a size; write {SIZE_EXAMPLE}")
        pattern, kind = SIZES[name]
        if not pattern.fullmatch(value):
            raise ValueError(f"{word!r} is not a size; write it as in {SIZE_EXAMPLE}")
        size[name] = kind(value)
    return size


def resize_tasks(document: Mapping[str, Any], size: Mapping[str, Any]) -> RewrittenDocument:
    """Return a document whose tasks have another size. ``processes`` is how many each starts: in
    every line with the flags ``--offset``, ``--size`` and ``--world_size``. ``gpus``, ``cpu`` and
    ``memory`` are what each pod requests in place of what the file says."""
    processes = size.get("processes")
    rewritten = _rewrite_texts(document, lambda text: _resize_text(text, processes))
    compute = {field: size[name] for name, field in REQUESTS.items() if name in size}
    for pod in _pods(rewritten.document):
        pod["compute"] = pod.get("compute", {}) | compute
    return rewritten


def _resize_text(text: str, processes: int | None) -> str:
    if processes is None:
        return text
    return "\n".join(_resize(line, processes) for line in text.split("\n"))


def _resize(line: str, processes: int) -> str:
    numbers = {match[1]: int(match[3]) for match in FLAG.finditer(line)}
    size = numbers.get("size", 0)
    if numbers.keys() != FLAGS or not size:
        return line
    return FLAG.sub(
        lambda match: f"--{match[1]}{match[2]}{int(match[3]) * processes // size}", line
    )


def _rewrite_texts(document: Mapping[str, Any], change: Callable[[str], str]) -> RewrittenDocument:
    """Change the files, the commands and the variables of all pods."""
    changed = deepcopy(dict(document))
    places = []
    for pod in _pods(changed):
        texts: list[tuple[dict[str, Any], str, str]] = [
            (pod, key, key) for key in ("command", "args") if pod.get(key)
        ]
        texts += [
            (variable, "value", f"the variable {variable['name']}")
            for variable in pod.get("environmentVariables", [])
            if "value" in variable
        ]
        texts += [
            (file, "content", volume["mountPath"])
            for volume in pod.get("storage", {}).get("configMapVolume", [])
            for file in volume["files"]
        ]
        owner = f" of {pod['name']}" if "name" in pod else ""
        for part, key, place in texts:
            text = change(part[key])
            if text != part[key]:
                part[key] = text
                places.append(f"{place}{owner}")
    return RewrittenDocument(changed, tuple(places))


def _pods(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what each role runs, or the only pod."""
    return document["roles"] if "roles" in document else [document["worker"]]


def _program_volume() -> dict[str, Any]:
    files = [
        {"name": name, "content": (PROGRAMS / f"{name}.py").read_text()} for name in PROGRAM_NAMES
    ]
    return {"files": files, "mountPath": PROGRAM_FOLDER, "defaultMode": "0755"}
