"""Documents that were written down under other rules."""

import pytest

from spec.draft import WorkloadDraft
from spec.formats.stored import document_fault, drop_invalid_parts
from spec.parts.environment import Environment


def test_a_fault_is_told_by_its_place() -> None:
    assert document_fault(Environment, {"image": "a"}) == ""
    fault = document_fault(Environment, {"image": "a b", "gone": 1})
    assert "image 'a b' is not an image URL" in fault
    assert "gone is not a known field" in fault


@pytest.mark.parametrize(
    "document",
    [
        {"name": "a", "gone": 1},
        {"name": "a", "cluster": "no id"},
        {"name": "a", "worker": {"assets": {"environment": "x"}, "gone": 1}},
        {"name": "a", "worker": [1, 2]},
        {"name": "a", "values": 5, "master": "x"},
    ],
)
def test_the_right_part_of_an_old_document_can_be_read(document: dict[str, object]) -> None:
    assert document_fault(WorkloadDraft, document)
    assert drop_invalid_parts(WorkloadDraft, document).name == "a"


@pytest.mark.parametrize("document", [5, None, [], "x"])
def test_a_stored_value_that_is_no_document_reads_as_an_empty_one(document: object) -> None:
    assert drop_invalid_parts(WorkloadDraft, document) == WorkloadDraft()
