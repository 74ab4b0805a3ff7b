"""Flags of Run:ai's first command line that have another form, as texts of the current flags."""

from collections.abc import Iterable

from trainyard_cli.flags.values import BadValue, FlagTexts

#: Its words for how a port is reached → those of ``--port``.
SERVICES = {"nodeport": "NodePort", "loadbalancer": "LoadBalancer"}
INGRESS = "ingress"
FORWARD = "portforward"
VOLUME = "write SOURCE:TARGET, and :ro to read it only, such as /data:/data:ro"


def add_volumes(
    flags: FlagTexts, volumes: Iterable[str], *, nfs_server: str = "", propagates: bool = False
) -> dict[str, object]:
    """Return the flags with ``-v SOURCE:TARGET[:ro][:HOST]`` added.

    The source is a folder of the NFS server, if the text or ``nfs_server`` names one, else of the
    node. With ``propagates``, later mounts of the node appear in it. Raises ``BadValue``.
    """
    result = dict(flags)
    for text in volumes:
        key, item = _parse_volume(text, nfs_server)
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


def _port_text(text: str, service: str) -> str:
    external, colon, container = text.rpartition(":")
    item = f"service-type={service},container={container}"
    return f"{item},external={external}" if colon else item


def _texts(value: object) -> list[str]:
    return list(value) if isinstance(value, list) else []
