"""Image registries, by host name."""

HUB = "docker.io"
HUBS = {HUB, "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"}
HUB_SERVER = "https://index.docker.io/v1/"  # the key of Docker Hub in nodes' credentials


def registry_host(server: str) -> str:
    """The host of a server's URL: ``registry.example.com:5000`` of
    ``https://registry.example.com:5000/v2/``."""
    host = server.strip().rpartition("://")[2].partition("/")[0].lower()
    return HUB if host in HUBS else host


def image_registry(image: str) -> str:
    """The host an image is pulled from: Docker Hub, unless its name has one."""
    first, slash, _ = image.partition("/")
    is_host = bool(slash) and ("." in first or ":" in first or first == "localhost")
    return registry_host(first) if is_host else HUB


def credential_server(host: str) -> str:
    """The registry's name in nodes' credentials."""
    return HUB_SERVER if host == HUB else host
