"""Which registry an image is pulled from, and which host a person means."""

import pytest

from spec.values.registry import credential_server, image_registry, registry_host


@pytest.mark.parametrize(
    ("image", "host"),
    [
        ("busybox", "docker.io"),
        ("kubeflow/pytorch:latest", "docker.io"),
        ("docker.io/library/busybox", "docker.io"),
        ("nvcr.io/nvidia/pytorch:24.01-py3", "nvcr.io"),
        ("registry.example.com:5000/team/train@sha256:abc", "registry.example.com:5000"),
        ("localhost/train:1", "localhost"),
    ],
)
def test_images_come_from_the_host_in_their_name_or_docker_hub(image: str, host: str) -> None:
    assert image_registry(image) == host


@pytest.mark.parametrize(
    ("server", "host"),
    [
        ("https://index.docker.io/v1/", "docker.io"),
        ("docker.io", "docker.io"),
        ("https://Registry.Example.com/v2/team", "registry.example.com"),
        ("registry.example.com:5000", "registry.example.com:5000"),
    ],
)
def test_a_server_is_meant_by_its_host(server: str, host: str) -> None:
    assert registry_host(server) == host


def test_nodes_look_up_docker_hub_by_its_old_address() -> None:
    assert credential_server("docker.io") == "https://index.docker.io/v1/"
    assert credential_server("nvcr.io") == "nvcr.io"
