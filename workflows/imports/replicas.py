"""Makes the pod of a task: the fields of a role in the document of its group."""

import base64
import binascii
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from pydantic import ValidationError

from spec.data.files import FILE
from spec.problems.errors import Path, problems_in
from spec.values.quantities import to_bytes
from spec.values.variable import looks_secret
from spec.workload import Replica
from workflows.claims import INPUT_FOLDER, OUTPUT_FOLDER
from workflows.imports.osmo import OsmoFile, OsmoResource, OsmoTask, comparable_name
from workflows.imports.report import NoteKind
from workflows.imports.rewriting import USUAL_PORT
from workflows.imports.templates import IS_TEMPLATE
from workflows.imports.tokens import TaskTokens, UnknownToken

#: The contents of local files, by the paths that the workflow file names.
ImportedFiles = Mapping[str, str]
LONGEST_ROLE = 40
SHARED_MEMORY = "/dev/shm"  # noqa: S108 -- a mount of pods
SCRIPT_MODE = "0755"
HOST_LABEL = "kubernetes.io/hostname"
#: ``$(NAME)`` in a command, and two dollars too in a variable, are replaced in a pod.
REFERENCE = re.compile(r"\$(?=\()")
PACKAGE_INSTALL = re.compile(r"\b(?:apt|apt-get|yum|dnf|apk) +(?:-\S+ +)*(?:install|add)\b")
#: A line that links, copies or writes something to a path of the system, which comes last.
SYSTEM_CHANGE = re.compile(
    r"^[^#\n]*(?:\b(?:ln|cp|mv|tee|sed +-i)\b[^\n]*? |> *)(/(?:etc|usr)/[\w./-]+)[ \t]*$",
    re.MULTILINE,
)
REFERENCE_OR_DOLLARS = re.compile(r"\$\$|\$(?=\()")


@dataclass(frozen=True)
class KnownNames:
    """What names stand for at a project: the node type of each platform, the keys of each
    credential, and whether each pool is this project. With ``None`` names are not checked.
    ``reads_claims`` says whether Trainyard can read what tasks leave behind there."""

    platforms: Mapping[str, str] = field(default_factory=dict)
    credentials: Mapping[str, Sequence[str]] | None = None
    pools: Mapping[str, bool] = field(default_factory=dict)
    reads_claims: bool = True


def role_names(tasks: Sequence[str]) -> dict[str, str]:
    """Return the name of the role of each task, which is also its host name: in lower case, with -
    for _, and at most as long as a role's name may be."""
    names: dict[str, str] = {}
    for task in tasks:
        name = comparable_name(task)[:LONGEST_ROLE].rstrip("-")
        number = 2
        while name in names.values():
            end = f"-{number}"
            name = comparable_name(task)[: LONGEST_ROLE - len(end)].rstrip("-") + end
            number += 1
        names[task] = name
    return names


@dataclass
class ReplicaMapping:
    """Maps one task. Paths of problems and notes begin at the task, or with ``resources``."""

    task: OsmoTask
    resource: OsmoResource | None
    tokens: TaskTokens
    files: ImportedFiles
    known: KnownNames
    problems: list[tuple[Path, str]] = field(default_factory=list)
    notes: list[tuple[Path, NoteKind, str]] = field(default_factory=list)

    def replica(self) -> dict[str, Any]:
        """Return the fields of the role. They are valid if there are no problems."""
        task = self.task
        compute = self._compute()
        storage = self._storage()
        variables = [*self._variables(), *self._credential_variables()]
        words = [self._replace(word, ("command", i)) for i, word in enumerate(task.command)]
        arguments = [self._replace(word, ("args", i)) for i, word in enumerate(task.args)]
        replica = {
            "image": self._replace(task.image, ("image",)),
            "command": _command_line(words),
            "args": _command_line(arguments),
            "environmentVariables": variables,
            "compute": compute,
            "storage": storage,
            **self._placement(),
        }
        replica = {key: value for key, value in replica.items() if value}
        if not self.problems:
            self.problems += _problems_of(replica)
        return replica

    def _variables(self) -> Iterator[dict[str, Any]]:
        for name, text in self.task.environment.items():
            value = self._replace(text, ("environment", name))
            # A value that looks secret is never expanded, so nothing in it needs an escape.
            if not looks_secret(name):
                value = REFERENCE_OR_DOLLARS.sub(_double_dollars, value)
            yield {"name": name, "value": value}

    def _credential_variables(self) -> Iterator[dict[str, Any]]:
        for credential, keys in self.task.credentials.items():
            self._check_credential(credential)
            for variable, key in keys.items() if isinstance(keys, dict) else ():
                self._check_credential_key(credential, key, variable)
                yield {"name": variable, "credential": {"name": credential, "key": key}}

    def _check_credential(self, name: str) -> None:
        known = self.known.credentials
        if known is not None and name not in known:
            message = f"there is no credential {name} that the project may use; create it first"
            self.problems.append((("credentials", name), message))

    def _check_credential_key(self, name: str, key: str, variable: str) -> None:
        keys = (self.known.credentials or {}).get(name)
        if keys and key not in keys:
            message = f"the credential {name} has no key {key}; it has {', '.join(keys)}"
            self.problems.append((("credentials", name, variable), message))

    def _compute(self) -> dict[str, Any]:
        resource = self.resource
        compute: dict[str, Any] = {}
        if SHARED_MEMORY in self.task.volume_mounts:
            compute["largeShmRequest"] = True
        if resource is None:
            return compute
        if resource.gpu:
            compute["gpuDevicesRequest"] = resource.gpu
        if resource.cpu:
            compute["cpuCoreRequest"] = resource.cpu
        if resource.memory:
            compute["cpuMemoryRequest"] = resource.memory
            self._check_quantity(resource.memory, "memory")
        if resource.storage:
            self._check_quantity(resource.storage, "storage")
            self._note_resource("storage", "storage is left out: disks of nodes are not counted.")
        return compute

    def _check_quantity(self, quantity: str, key: str) -> None:
        try:
            to_bytes(quantity)
        except ValueError as error:
            self.problems.append((self._resource_path(key), str(error)))

    def _placement(self) -> dict[str, Any]:
        """Return where the pod may run: the node type of its platform, and not on nodes that it
        excludes."""
        resource = self.resource
        if resource is None:
            return {}
        placement: dict[str, Any] = {}
        platforms = self.known.platforms
        if resource.platform in platforms:
            node_type = platforms[resource.platform]
            placement["nodeType"] = node_type
            text = f"platform {resource.platform} becomes the node type {node_type}."
            self._note_resource("platform", text, NoteKind.MAPPED)
        elif resource.platform and platforms:
            message = f"there is no platform {resource.platform}; use {', '.join(platforms)}"
            self.problems.append((self._resource_path("platform"), message))
        elif resource.platform:
            text = f"platform {resource.platform} is left out: no node type is given for it."
            self._note_resource("platform", text)
        if resource.nodes_excluded:
            excluded = {"key": HOST_LABEL, "operator": "NotIn"}
            term = {"matchExpressions": [excluded | {"values": list(resource.nodes_excluded)}]}
            placement["nodeAffinityRequired"] = {"nodeSelectorTerms": [term]}
        if resource.topology:
            text = (
                "topology is left out: choose a topology at the workload, if its cluster has one."
            )
            self._note_resource("topology", text)
        return placement

    def _storage(self) -> dict[str, Any]:
        files = [self._file_volume(number, file) for number, file in enumerate(self.task.files)]
        mounts = [mount for mount in self.task.volume_mounts if mount != SHARED_MEMORY]
        secrets = [
            {"credential": {"name": name}, "mountPath": self._replace(path, ("credentials", name))}
            for name, path in self.task.credentials.items()
            if isinstance(path, str)
        ]
        storage = {
            "configMapVolume": [volume for volume in files if volume],
            "secretVolume": secrets,
            "hostPath": [*map(_host_path, mounts), *self._read_folders()],
            "s3": list(self._read_buckets()),
            "emptyDirVolume": [{"path": OUTPUT_FOLDER}],
        }
        return {key: volumes for key, volumes in storage.items() if volumes}

    def _read_folders(self) -> Iterator[dict[str, Any]]:
        """Yield the inputs that are folders of the node, by ``file`` URLs."""
        for number, scheme, rest in self._input_urls():
            if scheme == "file":
                place = f"{INPUT_FOLDER}/{number}"
                yield {"path": rest, "mountPath": place, "readOnly": True}

    def _read_buckets(self) -> Iterator[dict[str, Any]]:
        """Yield the inputs in S3. They are fetched before the task starts."""
        for number, scheme, rest in self._input_urls():
            path = ("inputs", number, "url")
            if scheme == "s3":
                yield {"bucket": rest.rstrip("/"), "path": f"{INPUT_FOLDER}/{number}"}
                text = "The folder is fetched without a credential; give the task a data source if "
                self.notes.append((path, NoteKind.DIFFERS, f"{text}it needs one."))
            elif scheme != "file":
                message = f"{scheme}:// cannot be read; use s3://bucket/folder or file:///folder"
                self.problems.append((path, message))

    def _input_urls(self) -> Iterator[tuple[int, str, str]]:
        """Yield the number of each input by URL, and the two parts of the URL."""
        for number, read in enumerate(self.task.inputs):
            if read.url is not None:
                url = self._replace(read.url, ("inputs", number, "url"))
                scheme, _, rest = url.partition("://")
                yield number, scheme, rest

    def _file_volume(self, number: int, file: OsmoFile) -> dict[str, Any] | None:
        """Return the volume of one file; ``None`` after a problem."""
        path = ("files", number)
        place = self._replace(file.path, (*path, "path"))
        if file.localpath is not None:
            local = self.files.get(file.localpath)
            if local is None:
                message = f"{file.localpath} is missing; send it with the workflow file"
                self.problems.append(((*path, "localpath"), message))
                return None
            content = self._replace(local, (*path, "localpath"))
            if IS_TEMPLATE.search(content):
                text = f"{file.localpath} is used as it is: OSMO would render it as a template."
                self.notes.append(((*path, "localpath"), NoteKind.DIFFERS, text))
        elif file.base64:
            decoded = _decode_text(file.contents or "")
            if decoded is None:
                message = "is not text in base64; keep other files in a data source"
                self.problems.append(((*path, "contents"), message))
                return None
            content = decoded
        else:
            content = self._replace(file.contents or "", (*path, "contents"))
        self._note_machine(content, place, path)
        name = PurePosixPath(place).name
        key = name if FILE.fullmatch(name) and not name.startswith("..") else f"file-{number + 1}"
        return {
            "files": [{"name": key, "content": content}],
            "mountPath": place,
            "subPath": key,
            "defaultMode": SCRIPT_MODE,
        }

    def _note_machine(self, content: str, place: str, path: Path) -> None:
        """Note what a file does differently where ranks share a machine."""
        if USUAL_PORT.search(content):
            text = (
                f"On this machine and on Slurm 29500 in {place} becomes another port, because "
                "workloads share the ports of a machine."
            )
            self.notes.append((path, NoteKind.DIFFERS, text))
        if PACKAGE_INSTALL.search(content):
            text = (
                f"On this machine {place} installs packages for everyone, as far as its user may; "
                "it does no harm where they are installed already. On Slurm its user may not."
            )
            self.notes.append((path, NoteKind.DIFFERS, text))
        for target in sorted(set(SYSTEM_CHANGE.findall(content))):
            text = (
                f"On this machine {place} changes {target} for everyone, as far as its user may, "
                "and it stays changed."
            )
            self.notes.append((path, NoteKind.DIFFERS, text))

    def _replace(self, text: str, path: Path) -> str:
        try:
            return self.tokens.replace(text)
        except UnknownToken as error:
            self.problems.append((path, str(error)))
            return text

    def _resource_path(self, key: str) -> Path:
        return ("resources", self.task.resource, key)

    def _note_resource(self, key: str, text: str, kind: NoteKind = NoteKind.IGNORED) -> None:
        self.notes.append((self._resource_path(key), kind, text))


def _command_line(words: Sequence[str]) -> str | None:
    """Return words as one line, quoted as in a shell. Nothing in them is expanded."""
    return REFERENCE.sub("$$", shlex.join(words)) if words else None


def _double_dollars(match: re.Match[str]) -> str:
    return match[0] * 2


def _host_path(mount: str) -> dict[str, Any]:
    source, _, target = mount.partition(":")
    return {"path": source, "mountPath": target or source, "readOnly": False}


def _decode_text(encoded: str) -> str | None:
    """Return the text in base64; ``None`` if it is none."""
    try:
        return base64.b64decode("".join(encoded.split()), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _problems_of(replica: Mapping[str, Any]) -> list[tuple[Path, str]]:
    """Return what the spec refuses, at the fields of the task that it comes from."""
    try:
        Replica.model_validate(replica)
    except ValidationError as error:
        found = problems_in(error)
    else:
        return []
    return [(_source_of(problem.path), problem.message) for problem in found]


def _source_of(path: Path) -> Path:
    """Return where a task has a field of its replica."""
    match path:
        case ("storage", "configMapVolume", int(number), *_):
            return ("files", number)
        case ("storage", "secretVolume", *_):
            return ("credentials",)
        case ("storage", "hostPath", *_):
            return ("volumeMounts",)
        case ("storage", "s3", *_):
            return ("inputs",)
        case ("image" | "command" | "args" as field_name, *_):
            return (field_name,)
        case ("environmentVariables", *_):
            return ("environment",)
        case ("storage", *_):
            return ("files",)
    return ("resource",)
