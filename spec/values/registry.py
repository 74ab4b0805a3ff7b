"""Image registries, by host name."""

HUB = "docker.io"
HUBS = {HUB, "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"}
HUB_SERVER = "https://index.docker.io/v1/"  # the key of Docker Hub in nodes' credentials


def host_of(server: str) -> str:
    """The host of a server's URL: ``registry.example.com:5000`` of
    ``https://registry.example.com:5000/v2/``."""
    host = server.strip().rpartition("://")[2].partition("/")[0].lower()
    return HUB if host in HUBS else host


def registry_of(image: str) -> str:
    """The host an image is pulled from: Docker Hub, unless its name has one."""
    first, slash, _ = image.partition("/")
    is_host = bool(slash) and ("." in first or ":" in first or first == "localhost")
    return host_of(first) if is_host else HUB


def server_of(host: str) -> str:
    """The registry's name in nodes' credentials."""
    return HUB_SERVER if host == HUB else host
