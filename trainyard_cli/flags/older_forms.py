"""Flags of Run:ai's first command line that have another form, as texts of the current flags."""

import os
from collections.abc import Iterable

from trainyard_cli.flags.values import BadValue, FlagTexts

#: Its words for how a port is reached → those of ``--port``.
SERVICES = {"nodeport": "NodePort", "loadbalancer": "LoadBalancer"}
INGRESS = "ingress"
FORWARD = "portforward"
CLAIM = "write CLAIM:PATH, or CLASS:SIZE:PATH for a new one, and :ro to read it only"
VOLUME = "write SOURCE:TARGET, and :ro to read it only, such as /data:/data:ro"


def add_volumes(
    flags: FlagTexts, volumes: Iterable[str], *, nfs_server: str = "", propagates: bool = False
) -> dict[str, object]:
    """Return the flags with ``-v SOURCE:TARGET[:ro][:HOST]`` added.

    The source is a folder of the NFS server, if the text or ``nfs_server`` names one, else of the
    node. With ``propagates``, later mounts of the node appear in it. A text of several words, such
    as ``path=/data,mount=/data``, is one of ``--host-path``. Raises ``BadValue``.
    """
    result = dict(flags)
    for text in volumes:
        is_in_words = text.startswith(("path=", "mount="))
        key, item = ("host_path", text) if is_in_words else _parse_volume(text, nfs_server)
        if propagates and key == "host_path":
            item += ",mount-propagation=HostToContainer"
        result[key] = [*_texts(result.get(key)), item]
    return result


def _parse_volume(text: str, nfs_server: str) -> tuple[str, str]:
    """Parse one ``-v``, and return the key of a current flag and its text. Raises ``BadValue``."""
    source, target, mode, host, *more = [*text.split(":"), "", "", ""][
        : max(4, text.count(":") + 1)
    ]
    if more or not (source and target) or mode not in {"", "ro", "rw"} or "," in text:
        raise BadValue(f"--volume: {text!r} is not a volume; {VOLUME}")
    suffix = "" if mode == "ro" else ",readwrite"
    server = host or nfs_server
    if server:
        return "nfs", f"path={source},server={server},mountpath={target}{suffix}"
    return "host_path", f"path={source},mount={target}{suffix}"


def add_claims(flags: FlagTexts, claims: Iterable[str]) -> dict[str, object]:
    """Return the flags with ``--pvc`` added: ``CLAIM:PATH[:ro]`` mounts a claim that exists,
    ``[CLASS]:SIZE:PATH[:ro]`` one that is created. Raises ``BadValue``."""
    result = dict(flags)
    for text in claims:
        key, item = _parse_claim(text)
        result[key] = [*_texts(result.get(key)), item]
    return result


def _parse_claim(text: str) -> tuple[str, str]:
    """Parse one ``--pvc``, and return the key of a current flag and its text. Raises
    ``BadValue``."""
    parts = text.split(":")
    is_marked = parts[-1] in {"ro", "rw"}
    *head, path = parts[:-1] if is_marked else parts
    suffix = ",ro" if parts[-1] == "ro" else ""
    if "," not in text and path.startswith("/"):
        match head:
            case [claim] if claim:
                return "existing_pvc", f"claimname={claim},path={path}{suffix}"
            case [storage_class, size] if size:
                of_class = f"storageclass={storage_class}," if storage_class else ""
                return "new_pvc", f"{of_class}size={size},path={path}{suffix}"
    raise BadValue(f"--pvc: {text!r} is not a claim; {CLAIM}")


def use_own_ids(flags: FlagTexts) -> dict[str, object]:
    """Return the flags with the user and group of this process, unless they name others, and with
    a home directory, as ``--run-as-user`` means. Raises ``BadValue``."""
    if not hasattr(os, "getuid"):
        raise BadValue(
            "--run-as-user: this system has no user IDs; use --run-as-uid and --run-as-gid"
        )
    own = {"run_as_uid": str(os.getuid()), "run_as_gid": str(os.getgid()), "create_home_dir": True}
    return {**flags, **{key: value for key, value in own.items() if flags.get(key) is None}}


def apply_service_type(flags: FlagTexts, service: str) -> tuple[dict[str, object], list[str]]:
    """Return the flags with ``--port EXTERNAL:CONTAINER`` as ``--service-type`` means it, and ports
    to forward.

    The ports to forward are those of ``portforward``. They are in no request, because only the
    people who forward them reach them. Raises ``BadValue``.
    """
    result = dict(flags)
    ports = _texts(flags.get("port"))
    word = service.lower()
    if word not in {*SERVICES, INGRESS, FORWARD}:
        others = ", ".join([FORWARD, *SERVICES, INGRESS])
        raise BadValue(f"--service-type: {service!r} is not one of {others}")
    if not ports:
        raise BadValue("--service-type: say which port, such as --port 8888")
    if word == FORWARD:
        return result | {"port": []}, ports
    if word == INGRESS:
        urls = [f"container={it.rpartition(':')[2]}" for it in ports]
        return result | {
            "port": [],
            "external_url": [*_texts(result.get("external_url")), *urls],
        }, []
    return result | {"port": [_port_text(it, SERVICES[word]) for it in ports]}, []


def check_ports(flags: FlagTexts) -> None:
    """Raise ``BadValue`` for a port of two numbers, which says nothing without a service type."""
    for text in _texts(flags.get("port")):
        if text.replace(":", "").isdecimal() and ":" in text:
            raise BadValue(f"--port: {text} needs --service-type, such as --service-type nodeport")


def _port_text(text: str, service: str) -> str:
    external, colon, container = text.rpartition(":")
    item = f"service-type={service},container={container}"
    return f"{item},external={external}" if colon else item


def _texts(value: object) -> list[str]:
    return list(value) if isinstance(value, list) else []
