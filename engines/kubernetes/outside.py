"""Where a tool is reached past Trainyard, as the cluster has it now."""

from typing import Any

from engines.base import EngineUnavailable
from engines.kubernetes import belongings
from engines.kubernetes.api import Api
from spec.environment import ConnectionType
from spec.tools import Tool


def address(api: Api, space: str, name: str, tool: Tool, host_ip: str) -> str:
    """A URL without a path; empty where the way leads through Trainyard. ``host_ip`` is that of
    the node that the tool runs on."""
    kind = tool.connection.connection_type
    if kind is ConnectionType.CLUSTER_IP:
        return ""
    if kind is ConnectionType.EXTERNAL_URL:
        found = api.get(f"{belongings.folder('Ingress', space)}/{name}")["spec"]
        return f"{'https' if found.get('tls') else 'http'}://{found['rules'][0]['host']}"
    service = api.get(f"{belongings.folder('Service', space)}/{name}")
    port = service["spec"]["ports"][0]
    if kind is ConnectionType.NODE_PORT:
        return f"http://{host_ip}:{port['nodePort']}"
    return f"http://{_balancer(service)}:{port['port']}"


def _balancer(service: dict[str, Any]) -> str:
    found = service["status"].get("loadBalancer", {}).get("ingress") or []
    if not found:
        raise EngineUnavailable("The load balancer has no address yet.")
    return str(found[0].get("hostname") or found[0]["ip"])
