"""Finds all operations of NVIDIA's client that are not deprecated, with the request that each
sends."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from runai import api


@dataclass(frozen=True)
class ClientOperation:
    """An operation, and its request."""

    name: str  # such as UsersApi.get_users
    method: str
    path: str


class _Recorder:
    """Replaces the client's connection, and returns the request."""

    def call_api(self, *, method: str, resource_path: str, **_: Any) -> tuple[str, str]:
        return method, resource_path


def operations() -> Iterator[ClientOperation]:
    """Yield all operations."""
    every: dict[str, Any] = vars(api)
    for kind, group in sorted(every.items()):
        if not (kind.endswith("Api") and inspect.isclass(group)):
            continue
        for name, call in sorted(vars(group).items()):
            if inspect.isfunction(call) and not name.startswith("_") and not _is_old(call):
                method, path = call(_of(group), **_required(call))
                yield ClientOperation(f"{kind}.{name}", method, path)


def _of(group: Any) -> Any:
    return group(_Recorder())


def _is_old(call: Callable[..., Any]) -> bool:
    """Whether an operation is deprecated; such ones accept anything, with a warning."""
    return "deprecated" in (inspect.getsource(call) or "").lower()


def _required(call: Callable[..., Any]) -> dict[str, Any]:
    """Return values for the parameters of the path. No others are needed."""
    given = list(inspect.signature(call).parameters.values())[1:]
    return {it.name: "5" for it in given if it.default is inspect.Parameter.empty}
