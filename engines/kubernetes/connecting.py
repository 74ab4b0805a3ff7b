"""How an API server is reached: by a kubeconfig, or by the service account of the pod we run in."""

import socket

import yaml
from kubernetes import config
from kubernetes.client import ApiClient, Configuration
from kubernetes.config import ConfigException
from urllib3.connection import HTTPConnection

from engines.base import EngineRefused
from engines.kubernetes.api import Api

CONNECTIONS = 16  # kept open for reuse by one process
#: A peer that vanished is noticed within a minute, however long nothing is said.
PROBES = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 4}  # not all on every system
KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in PROBES.items()
        if hasattr(socket, name)
    ),
]


def connect(kubeconfig: str | None, *, context: str | None = None) -> Api:
    """``kubeconfig`` is the file's text; without it, the pod's own service account is used.

    ``EngineRefused`` says what is wrong with it. Nothing is asked of the server yet.
    """
    settings = Configuration()
    settings.connection_pool_maxsize = CONNECTIONS
    settings.retries = 1
    settings.socket_options = [*HTTPConnection.default_socket_options, *KEEP_ALIVE]
    try:
        if kubeconfig is None:
            config.load_incluster_config(client_configuration=settings)
        else:
            config.load_kube_config_from_dict(
                _document(kubeconfig),
                context=context,
                client_configuration=settings,
                persist_config=False,
            )
    except ConfigException as error:
        raise EngineRefused(
            f"The kubeconfig cannot be used: {error}", field="kubeconfig"
        ) from error
    return Api(ApiClient(configuration=settings))


def _document(text: str) -> dict[str, object]:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigException(f"it is not YAML: {error}") from error
    if not isinstance(document, dict):
        raise ConfigException("it is not a YAML mapping")
    return document
