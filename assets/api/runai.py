"""Assets in the form that NVIDIA's Python client expects.

Its models of an environment know neither JAX nor a tool that only Trainyard opens, and refuse a
whole list because of one. The client identifies itself, so only its answers differ.
"""

from django.http import HttpRequest

from assets.api.schemas import AssetOut
from spec.formats.stored import as_mapping
from spec.framework import Framework
from spec.parts.environment import ConnectionType

AGENT = "runai-api-client"  # the beginning of its User-Agent
DIST_FRAMEWORK = "distFramework"
TOOLS = "connections"


def is_runai_client(request: HttpRequest) -> bool:
    """Whether the request comes from NVIDIA's Python client."""
    return request.headers.get("User-Agent", "").startswith(AGENT)


def adapt_asset(request: HttpRequest, asset: AssetOut) -> AssetOut:
    """Return the answer in the form of the client that asks: for NVIDIA's without the framework JAX
    and without tools of the type ClusterIP."""
    if not is_runai_client(request):
        return asset
    types = as_mapping(asset.meta.workload_supported_types)
    framework = types.get(DIST_FRAMEWORK)
    if framework and not Framework(framework).traits.has_runai_assets:
        asset.meta.workload_supported_types = {**types, DIST_FRAMEWORK: None}
    if TOOLS in asset.spec:
        tools = [tool for tool in asset.spec[TOOLS] if not _is_opened_by_trainyard(tool)]
        asset.spec = {**asset.spec, TOOLS: tools}
    return asset


def _is_opened_by_trainyard(tool: object) -> bool:
    info = as_mapping(as_mapping(tool).get("internalToolInfo"))
    return info.get("connectionType") == ConnectionType.CLUSTER_IP
