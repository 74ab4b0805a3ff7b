"""Expose tools: a Service for each, and an Ingress for those with an external URL. Pure."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from engines.base import Launch, Manifest
from engines.kubernetes.labels import FIELD, TOOL, WORKLOAD, labels
from engines.kubernetes.manifests.emitters.base import Emitter
from engines.kubernetes.manifests.values import without_empty
from engines.kubernetes.names import job_name
from spec.parts.environment import ConnectionType
from spec.problems.errors import Problem, parse_path
from spec.tools import Tool, served_tools
from spec.values.names import object_name

NGINX = "nginx.ingress.kubernetes.io"
SILENCE_SECONDS = "3600"  # seconds that a websocket may be silent


def tool_objects(launch: Launch, emitter: Emitter, space: str) -> list[Manifest]:
    items: list[Manifest] = []
    for tool in served_tools(launch.spec):
        items.append(service(launch, emitter, space, tool))
        if tool.connection.connection_type is ConnectionType.EXTERNAL_URL:
            items.append(ingress(launch, space, tool))
    return items


def complaints(launch: Launch) -> Iterator[Problem]:
    """External URLs that cannot be provided."""
    site = launch.site
    for tool in served_tools(launch.spec):
        if tool.connection.connection_type is not ConnectionType.EXTERNAL_URL:
            continue
        place = (*parse_path(tool.field), "connectionType")
        if not site.ingress_domain:
            yield Problem(
                place,
                "the cluster has no domain for external URLs; its administrator can name one, or "
                "choose Through Trainyard (ClusterIP) as the tool's connection type",
            )
        elif not site.public_url:
            yield Problem(
                place,
                "visitors sign in at Trainyard's own address, which its "
                "administrator must set with PUBLIC_URL; or choose ClusterIP",
            )
        elif not _is_free_host(launch, tool_host(launch, tool)):
            text = f"its host must be one label before .{site.ingress_domain}, and not Trainyard's"
            yield Problem((*parse_path(tool.field), "externalUrl"), text)


def _is_free_host(launch: Launch, name: str) -> bool:
    """Whether a host is within the cluster's domain and not Trainyard's own."""
    _, _, rest = name.partition(".")
    return rest == launch.site.ingress_domain and name != urlsplit(launch.site.public_url).hostname


def tool_object_name(job: str, tool: Tool) -> str:
    return f"{job}-tool-{tool.number}"


def service(launch: Launch, emitter: Emitter, space: str, tool: Tool) -> Manifest:
    connection = tool.connection
    behind = {
        ConnectionType.NODE_PORT: "NodePort",
        ConnectionType.LOAD_BALANCER: "LoadBalancer",
    }
    port = {
        "name": "tool",
        "port": tool.port,
        "targetPort": tool.port,
        "protocol": "TCP",  # servers before 1.21 apply no port without it
        "nodePort": connection.node_port,
    }
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(launch, space, tool),
        "spec": {
            "type": behind.get(connection.connection_type, "ClusterIP"),
            "selector": {
                WORKLOAD: str(launch.handle.workload_id),
                **emitter.pod_selector(launch, tool.pod),
            },
            "ports": [without_empty(port)],
        },
    }


def ingress(launch: Launch, space: str, tool: Tool) -> Manifest:
    """The Ingress of a tool, annotated so that ingress-nginx has Trainyard authorize each
    request."""
    site = launch.site
    name = tool_host(launch, tool)
    address = tool.port
    meta = metadata(launch, space, tool)
    here = f"{launch.handle.workload_id}/{tool.slug}/"
    meta["annotations"] |= {
        f"{NGINX}/auth-url": f"{site.public_url}/tools/auth/{here}",
        f"{NGINX}/auth-signin": f"{site.public_url}/tools/signin/{here}",
        f"{NGINX}/auth-always-set-cookie": "true",  # even if the tool answers with an error
        f"{NGINX}/auth-response-headers": "Cookie",  # the visitor's without ours
        f"{NGINX}/proxy-buffer-size": "16k",  # of an answer's headers, cookies of 8 KB among them
        f"{NGINX}/proxy-read-timeout": SILENCE_SECONDS,
    }
    backend = {"service": {"name": meta["name"], "port": {"number": address}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    spec = {
        "ingressClassName": site.ingress_class,
        "rules": [{"host": name, "http": {"paths": [path]}}],
        "tls": [{"hosts": [name]}] if site.public_url.startswith("https:") else [],
    }
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": meta,
        "spec": without_empty(spec),
    }


def metadata(launch: Launch, space: str, tool: Tool) -> Manifest:
    return {
        "name": tool_object_name(job_name(launch.handle), tool),
        "namespace": space,
        "labels": labels(launch) | {TOOL: tool.slug},
        "annotations": {FIELD: tool.field},
    }


def tool_host(launch: Launch, tool: Tool) -> str:
    """The tool's host: ``<workload>-<project>`` with a part of the id, so that it is unique."""
    handle = launch.handle
    if tool.connection.external_url:
        return urlsplit(tool.connection.external_url).hostname or ""
    label = object_name(f"{handle.name}-{handle.project}", handle.workload_id)
    return f"{label}{f'-{tool.number}' if tool.number else ''}.{launch.site.ingress_domain}"
