"""A place in the spec as a path, and as people read it."""

import pytest

from spec.problems.errors import Path, path_of, place_of


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("nodePools", ("nodePools",)),
        ("worker.compute.gpuRequestType", ("worker", "compute", "gpuRequestType")),
        ("worker.connections[0].name", ("worker", "connections", 0, "name")),
    ],
)
def test_a_place_and_a_path_are_one(place: str, path: Path) -> None:
    assert path_of(place) == path
    assert place_of(path) == place
