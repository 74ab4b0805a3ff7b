"""Connect to an API server: by a kubeconfig, or by the service account of the pod we run in."""

import socket
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Self

from kubernetes import config
from kubernetes.client import ApiClient, Configuration
from kubernetes.config import ConfigException, incluster_config
from urllib3.connection import HTTPConnection
from urllib3.exceptions import ReadTimeoutError
from urllib3.util import Retry

from engines.base import EngineRefused
from engines.kubernetes.client.api import Api
from engines.kubernetes.client.kubeconfig import UnfitYaml, parse_kubeconfig

#: Connections that one process keeps open: for watches, submissions and reads at the same time.
#: Further ones are closed after their request.
CONNECTIONS = 32
#: TCP keep-alive: a vanished peer is noticed within a minute, even on a silent connection.
PROBES = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 4}  # not all on every system
KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in PROBES.items()
        if hasattr(socket, name)
    ),
]


def connect(kubeconfig: str | None, *, context: str | None = None, streams: int = 0) -> Api:
    """``kubeconfig`` is the file's text; without it the pod's own service account is used.
    ``streams`` is how many logs may be followed at the same time.

    Nothing is asked of the server yet. ``EngineRefused`` says what is wrong with the kubeconfig.
    """
    if kubeconfig is None:
        return Api(_client(None, None, streams))
    try:
        document = parse_kubeconfig(kubeconfig)
    except UnfitYaml as error:
        raise _unusable_kubeconfig(error) from error
    client = _client(document, context, streams)
    # A plugin need not report when its credentials expire, and the library only asks it again if it
    # does.
    asks = "exec" in _user_entry(document, context)
    return Api(client, partial(_client, document, context, streams) if asks else None)


def _client(document: dict[str, object] | None, context: str | None, streams: int) -> ApiClient:
    settings = Configuration()
    settings.connection_pool_maxsize = CONNECTIONS + streams
    settings.retries = RetryOnce(1, redirect=False)
    settings.socket_options = [*HTTPConnection.default_socket_options, *KEEP_ALIVE]
    try:
        if document is None:
            config.load_incluster_config(client_configuration=settings)
            token_file = incluster_config.SERVICE_TOKEN_FILENAME
        else:
            config.load_kube_config_from_dict(
                document,
                context=context,
                client_configuration=settings,
                persist_config=False,
            )
            token_file = str(_user_entry(document, context).get("tokenFile") or "")
    except (ConfigException, ValueError) as error:  # ValueError: data that is not base64
        raise _unusable_kubeconfig(error) from error
    except (AttributeError, KeyError, TypeError) as error:  # the library does not check types
        raise _unusable_kubeconfig("a value in it is not of the type that belongs there") from error
    if token_file:
        settings.refresh_api_key_hook = TokenFile(Path(token_file))
    return ApiClient(configuration=settings)


def _unusable_kubeconfig(error: Exception | str) -> EngineRefused:
    return EngineRefused(f"The kubeconfig cannot be used: {error}", field="kubeconfig")


class RetryOnce(Retry):
    """Retries once if an idle connection was cut. Not if the server is silent, which would double
    the time until callers learn of it."""

    def increment(
        self, method: str | None = None, url: str | None = None, *args: Any, **kwargs: Any
    ) -> Self:
        if isinstance(error := kwargs.get("error"), ReadTimeoutError):
            raise error
        return super().increment(method, url, *args, **kwargs)


class TokenFile:
    """A token in a file that somebody renews, as kubelet does within the hour. The library calls
    this before each request; by itself it would reread the file once a minute, or never."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[int, int, int] | None = None  # inode, time and size at the last read

    def __call__(self, settings: Configuration) -> None:
        # If the file is briefly missing, the old token may still do; if not, the server says so.
        with suppress(OSError, UnicodeDecodeError):
            stat = self._path.stat()
            now = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            if now == self._read:
                return
            if token := self._path.read_text(encoding="ascii").strip():
                settings.api_key["BearerToken"] = f"Bearer {token}"
                self._read = now


def _user_entry(document: Mapping[str, Any], context: str | None) -> Mapping[str, Any]:
    """The user entry of the chosen context; empty if it names none. Only this context is checked:
    other entries may contain anything."""
    chosen = _find_entry(document, "context", context or document["current-context"])
    return _find_entry(document, "user", chosen["user"]) if chosen.get("user") else {}


def _find_entry(document: Mapping[str, Any], kind: str, name: str) -> Mapping[str, Any]:
    """An entry by name from a list such as ``contexts``; empty if there is none."""
    entries = document.get(f"{kind}s") or ()
    return next((one.get(kind) or {} for one in entries if one.get("name") == name), {})
