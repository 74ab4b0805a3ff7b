"""Layers of values: items merge by key, excluded ones go, each value knows where it is from."""

import copy
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from spec.data.storage import Storage
from spec.formats.merge import KEYS, PARTS, MergedLayers, is_same_item, path_in_layer
from spec.parts.compute import Compute
from spec.parts.environment import Security
from spec.parts.probes import Probes
from spec.workload import Replica, WorkloadSpec


def merged(*layers: tuple[dict[str, Any], str]) -> MergedLayers:
    result = MergedLayers()
    for values, origin in layers:
        result.add_layer(values, origin)
    return result


def variables(**values: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def test_an_item_of_the_user_leaves_the_others_of_the_asset() -> None:
    result = merged(
        ({"connections": [{"name": "a", "containerPort": 1}, {"name": "b"}]}, "environment e"),
        ({"connections": [{"name": "b", "containerPort": 2}, {"name": "c"}]}, "user"),
    )
    assert result.document["connections"] == [
        {"name": "a", "containerPort": 1},
        {"name": "b", "containerPort": 2},
        {"name": "c"},
    ]
    assert result.origins == {"connections": "user", "connections[0]": "environment e"}


@pytest.mark.parametrize(
    "out", [{"name": "data", "exclude": True}, {"path": "/data/", "exclude": True}]
)
def test_exclude_takes_an_item_of_a_lower_layer_away(out: dict[str, Any]) -> None:
    data = {"name": "data", "path": "/data", "claimName": "d"}
    code = {"path": "/code"}
    result = merged(
        ({"storage": {"pvc": [data, code]}}, "asset"), ({"storage": {"pvc": [out]}}, "u")
    )
    assert result.document == {"storage": {"pvc": [code]}}
    assert result.origins == {"storage": "asset"}


def test_exclude_needs_nothing_below_and_false_means_nothing() -> None:
    label = {"name": "team", "value": "a", "exclude": False}
    result = merged(({"labels": [{"name": "gone", "exclude": True}, label]}, "user"))
    assert result.document == {"labels": [{"name": "team", "value": "a"}]}


def test_parts_are_laid_value_by_value_and_empty_ones_not_at_all() -> None:
    result = merged(
        ({"compute": {"gpuDevicesRequest": 1, "cpuCoreRequest": 2.0}}, "compute resource c"),
        ({"compute": {"cpuCoreRequest": 4.0, "cpuMemoryRequest": ""}}, "user"),
    )
    assert result.document == {"compute": {"gpuDevicesRequest": 1, "cpuCoreRequest": 4.0}}
    assert result.origins == {
        "compute": "user",
        "compute.gpuDevicesRequest": "compute resource c",
    }


def test_values_that_the_user_did_not_change_come_from_the_template() -> None:
    template = {
        "labels": variables(a="1", b="2"),
        "image": "i",
        "storage": {"nfs": [{"path": "p"}]},
    }
    given = {"labels": variables(a="1", b="3"), "image": "i", "storage": {"nfs": [{"path": "p"}]}}
    result = merged(({"labels": variables(c="0")}, "environment e"), (given, "user"))
    result.credit(template, "template t", instead_of="user")
    assert result.origins == {
        "image": "template t",
        "labels": "user",
        "labels[0]": "environment e",
        "labels[1]": "template t",
        "storage": "template t",
    }


def test_a_problem_is_led_back_to_where_the_item_was_given() -> None:
    given = {
        "labels": [{"name": "", "value": ""}, {"name": "b", "exclude": True}, *variables(c="?")]
    }
    result = merged(({"labels": variables(a="1", b="2")}, "asset"), (given, "user"))
    assert path_in_layer(("labels", 0, "value"), result.document, given) == ("labels",)
    assert path_in_layer(("labels", 1, "value"), result.document, given)[1] == 0
    assert path_in_layer(("labels", 2, "value"), result.document, given) == ("labels", 2, "value")


NAMES = st.sampled_from("abcdef")
ITEMS = st.lists(
    st.fixed_dictionaries({"name": NAMES, "value": st.integers(0, 3)}),
    unique_by=lambda it: it["name"],
)
ABOVE = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES}, optional={"value": st.integers(0, 3), "exclude": st.booleans()}
    ),
    unique_by=lambda it: str(it["name"]),
)


@given(below=ITEMS, above=ABOVE)
def test_nothing_of_the_asset_goes_but_what_the_user_names(below: Any, above: Any) -> None:
    kept = copy.deepcopy((below, above))
    result = merged(({"labels": below}, "asset"), ({"labels": above}, "user"))
    items = result.document.get("labels", [])
    mine = {it["name"]: it for it in above}
    stays = [it["name"] for it in below if not mine.get(it["name"], {}).get("exclude")]
    new = [
        it["name"]
        for it in above
        if not it.get("exclude") and it["name"] not in {other["name"] for other in below}
    ]

    assert [it["name"] for it in items] == stays + new
    for at, item in enumerate(items):
        ours = mine.get(item["name"])
        origin = result.origins.get(f"labels[{at}]", result.origins["labels"])
        assert origin == ("user" if ours else "asset")
        theirs = next((it for it in below if it["name"] == item["name"]), None)
        assert item == ({k: v for k, v in ours.items() if k != "exclude"} if ours else theirs)
    assert (below, above) == kept, "what was given is as it was"

    result.add_layer({"labels": above}, "user")
    assert result.document.get("labels", []) == items, "said twice is said once"


def lists_of(model: type[BaseModel]) -> dict[str, Any]:
    """The class of the items of each list of a model; plain values have none of their own."""
    found = {}
    for name, field in model.model_fields.items():
        kinds = get_args(field.annotation)
        if getattr(field.annotation, "__origin__", None) is tuple:
            found[field.alias or name] = kinds[0]
    return found


def test_every_list_of_things_says_its_key() -> None:
    lists = lists_of(Replica) | lists_of(WorkloadSpec)
    parts: dict[str, type[BaseModel]] = {
        "compute": Compute,
        "probes": Probes,
        "security": Security,
        "storage": Storage,
    }
    for part, model in parts.items():
        lists |= {f"{part}.{key}": kind for key, kind in lists_of(model).items()}
    things = {
        path: kind
        for path, kind in lists.items()
        if isinstance(kind, type) and issubclass(kind, BaseModel)
    }
    assert set(KEYS) == set(things)
    assert set(parts) == PARTS
    for path, kind in things.items():
        assert set(KEYS[path]) <= {field.alias for field in kind.model_fields.values()}


def test_items_without_a_key_are_never_the_same() -> None:
    assert not is_same_item({"key": "gpu"}, {"key": "gpu"}, ("name",))
    assert not is_same_item("gpu", "gpu", ("name",))
