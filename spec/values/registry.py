"""Registries of images, by the host that serves them."""

HUB = "docker.io"
HUBS = {HUB, "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"}
HUB_SERVER = "https://index.docker.io/v1/"  # by which nodes look up the password of Docker Hub


def host_of(server: str) -> str:
    """``registry.example.com:5000`` of ``https://registry.example.com:5000/v2/``."""
    host = server.strip().rpartition("://")[2].partition("/")[0].lower()
    return HUB if host in HUBS else host


def registry_of(image: str) -> str:
    """The host that an image is pulled from: without one in its name it is Docker Hub."""
    first, slash, _ = image.partition("/")
    is_host = bool(slash) and ("." in first or ":" in first or first == "localhost")
    return host_of(first) if is_host else HUB


def server_of(host: str) -> str:
    """How nodes name it."""
    return HUB_SERVER if host == HUB else host
