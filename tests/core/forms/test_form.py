"""A form that is posted as a whole: what it reads, shows again, and whose problem is whose."""

from typing import Any

import pytest
from django.http import QueryDict

from core.forms.field import Cell, Field, Input
from core.forms.form import Form

FIELDS = (
    Field("name", "Name", required=True),
    Field("limits.cpu", "Cores", Input.NUMBER, alias="cores", also=("cpuRequest",)),
    Field("count", "Count", Input.WHOLE),
    Field("tty", "Terminal", Input.FLAG),
    Field("shared", "Shared", Input.FLAG, initial=True),
    Field("root", "As root", Input.MAYBE, options=(("", "As it is"), ("yes", "Y"), ("no", "N"))),
    Field("rights", "Rights", Input.MANY, options=(("A", "A"), ("B", "B"))),
    Field("policy", "Policy", Input.SELECT, options=(("Always", "Always"), ("Never", "Never"))),
    Field(
        "ports", "Ports", Input.ROWS, cells=(Cell("port", "Port", Input.WHOLE), Cell("of", "Of"))
    ),
)
GOOD = "policy=Always&shared=on"


def form(query: str = GOOD, **values: Any) -> Form:
    return Form(FIELDS, values, QueryDict(query))


def test_a_form_keeps_each_input_as_a_value_of_its_kind() -> None:
    query = "cores=1.5&count=-3&tty=on&root=no&rights=A&rights=B&policy=Never&name= x "
    assert form(query).document() == {
        "name": "x",
        "limits": {"cpu": 1.5},
        "count": -3,
        "tty": True,
        "shared": False,
        "root": False,
        "rights": ["A", "B"],
        "policy": "Never",
    }


@pytest.mark.parametrize(
    ("query", "key", "typed"),
    [("cores=1e9", "cores", "1e9"), ("count=2.5", "count", "2.5"), ("root=maybe", "root", "maybe")],
)
def test_an_input_that_is_no_value_of_its_kind_stays_as_typed(
    query: str, key: str, typed: str
) -> None:
    assert form(f"{GOOD}&{query}")[key].value == typed


@pytest.mark.parametrize(
    ("query", "name"),
    [("policy=Often", "policy"), ("rights=C", "rights"), ("root=maybe", "root"), ("", "policy")],
)
def test_a_choice_that_was_not_offered_is_refused(query: str, name: str) -> None:
    asked = form(query if "policy" in query or not query else f"{GOOD}&{query}")
    assert list(asked.errors) == [name]
    assert not asked.is_valid()


def test_a_problem_is_shown_by_the_field_of_its_path() -> None:
    asked = form()
    assert asked.is_valid()
    asked.add_problems([(("limits", "cpu"), "must be more than 0"), (("cpuRequest",), "is odd")])
    asked.add_problems([(("elsewhere",), "is wrong")])
    assert asked.errors == {"cores": ["Cores must be more than 0.", "Cores are odd."]}
    assert asked.non_field_errors == ["elsewhere: is wrong"]


def test_a_problem_of_an_item_is_shown_at_its_cell_after_blanks() -> None:
    asked = form(
        f"{GOOD}&ports-0-of=&ports-3-of=x&ports-7-port=many&ports-9-of=z&ports-9-DELETE=on"
    )
    assert asked.document()["ports"] == [{"port": "", "of": "x"}, {"port": "many", "of": ""}]
    asked.add_problems([(("ports", 1, "port"), "must be a whole number")])
    asked.add_problems([(("ports",), "must be fewer")])
    assert asked["ports"].items[2].by_slug["port"].errors == ["Port must be a whole number."]
    assert asked["ports"].errors == ["Ports must be fewer."]


def test_parts_of_a_stored_item_that_no_cell_shows_stay_with_it() -> None:
    stored = [{"port": 1, "of": "a", "note": "first"}, {"port": 2, "of": "b", "note": "second"}]
    rests = [item.rest for item in Form(FIELDS, {"ports": stored})["ports"].items]
    query = f"{GOOD}&ports-0-of=b&ports-0-port=2&ports-0-rest={rests[1]}"
    assert form(query, ports=stored).document()["ports"] == [stored[1]]


def test_a_fixed_field_of_a_form_cannot_be_posted() -> None:
    asked = Form(FIELDS, {"name": "old", "policy": "Never"}, QueryDict(GOOD), fixed=("policy",))
    assert asked["policy"].disabled
    assert asked.document()["policy"] == "Never"
