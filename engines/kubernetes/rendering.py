"""Manifests as documents for people: as they are handed over, but without secrets."""

from copy import deepcopy

from engines.base import Manifest
from spec.environment import looks_secret


def masked(documents: list[Manifest]) -> list[Manifest]:
    shown = deepcopy(documents)
    for document in shown:
        if document["kind"] == "Secret":
            document["data"] = dict.fromkeys(document["data"], "***")
        for variable in _variables(document):
            if "value" in variable and looks_secret(variable["name"]):
                variable["value"] = "***"
    return shown


def _variables(node: object) -> list[Manifest]:
    """Every entry of every ``env`` below."""
    if isinstance(node, list):
        return [found for item in node for found in _variables(item)]
    if not isinstance(node, dict):
        return []
    below = [found for item in node.values() for found in _variables(item)]
    return [*node.get("env", []), *below]
