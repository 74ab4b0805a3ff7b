"""A place in the spec as a path, and as people read it."""

import pytest

from spec.problems.errors import Path, parse_path, path_text


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("nodePools", ("nodePools",)),
        ("worker.compute.gpuRequestType", ("worker", "compute", "gpuRequestType")),
        ("worker.connections[0].name", ("worker", "connections", 0, "name")),
    ],
)
def test_a_place_and_a_path_are_one(place: str, path: Path) -> None:
    assert parse_path(place) == path
    assert path_text(path) == place
