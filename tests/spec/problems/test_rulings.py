"""A ruling says in one sentence what its field must be, and whose rule that is."""

import pytest

from spec.problems.rulings import AllowedValue, FieldRuling


@pytest.mark.parametrize(
    ("ruling", "sentence"),
    [
        (FieldRuling(locked=True, max=8, why="One for all."), "Locked by policy a: One for all."),
        (FieldRuling(required=True, min=1, max=8), "Required, 1 to 8 by policy a."),
        (FieldRuling(min=1, step=2), "At least 1, in steps of 2 by policy a."),
        (FieldRuling(max="64G"), "At most 64G by policy a."),
        (FieldRuling(options=(AllowedValue("a", "A"),)), "Limited to these options by policy a."),
        (FieldRuling(starts_with="reg/"), "Starts with reg/ by policy a."),
        (FieldRuling(may_add=False), "No further items by policy a."),
        (FieldRuling(locked_items=frozenset({"SEED"})), ""),
    ],
)
def test_a_ruling_says_what_its_field_must_be(ruling: FieldRuling, sentence: str) -> None:
    named = {**vars(ruling), "source": "policy a"}
    assert FieldRuling(**named).sentence == sentence
