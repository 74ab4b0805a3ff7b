"""What no cell shows of an item stays with it: moved, removed, edited in two tabs, or made up."""

from typing import Any

import pytest

from tests.workloads.wizard.browser import Inputs, Wizard
from workloads import services
from workloads.models import Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("on_kubernetes")]
GIT = "worker-storage-git"
VARIABLES = "worker-environmentVariables"


def repository(name: str, **more: Any) -> dict[str, Any]:
    """A repository whose name and way of signing in no cell shows."""
    secret = {"name": f"key-of-{name}", "authenticationMethod": "ssh-key"}
    return {
        "repository": f"git@host:{name}",
        "path": f"/{name}",
        "secretRef": secret,
        "name": name,
    } | more


FIRST = repository("first")
SECOND = repository("second")


@pytest.fixture
def two(wizard: Wizard) -> Wizard:
    draft = wizard.ready().draft
    draft.document["worker"]["values"] = {"storage": {"git": [FIRST, SECOND]}}
    draft.save()
    return wizard.open(wizard.at(2))


def stored(wizard: Wizard) -> Any:
    return wizard.draft.content.worker.values["storage"]["git"]


def posted(wizard: Wizard) -> dict[str, str]:
    """Return the inputs of the list on the page."""
    inputs = Inputs(wizard.page).values
    return {name: value for name, value in inputs.items() if name.startswith(GIT)}


def swapped(inputs: dict[str, str]) -> dict[str, str]:
    """The same items, with their numbers changed."""
    other = {"0": "1", "1": "0"}
    head = len(GIT) + 1
    return {
        f"{GIT}-{other[name[head]]}{name[head + 1 :]}" if name != GIT else name: value
        for name, value in inputs.items()
    }


def test_the_remainder_never_leaves_the_server(two: Wizard) -> None:
    assert not [value for value in posted(two).values() if "ssh-key" in value]
    assert len(posted(two)[f"{GIT}-0-rest"]) == 32


def test_an_item_that_is_moved_takes_its_remainder_along(two: Wizard) -> None:
    two.save(2, **swapped(posted(two)))
    assert stored(two) == [SECOND, FIRST]


def test_items_keep_their_remainders_when_the_first_is_removed(two: Wizard) -> None:
    two.press(f"remove:{GIT}:0")
    assert stored(two) == [SECOND]


def test_items_keep_their_remainders_when_every_cell_changes(two: Wizard) -> None:
    changes = {f"{GIT}-0-repository": "git@host:moved", f"{GIT}-0-path": "/moved"}
    two.press("save", **changes)
    assert stored(two) == [FIRST | {"repository": "git@host:moved", "path": "/moved"}, SECOND]


def test_items_keep_their_remainders_when_another_tab_removes_an_item(two: Wizard) -> None:
    before = posted(two)
    two.press(f"remove:{GIT}:0")
    two.save(2, **(before | {f"{GIT}-1-branch": "dev"}))
    shown = {
        "repository": "git@host:first",
        "path": "/first",
        "secretRef": {"name": "key-of-first"},
    }
    assert stored(two) == [shown, SECOND | {"branch": "dev"}]


def test_items_keep_their_remainders_when_another_tab_adds_an_item_in_front(two: Wizard) -> None:
    before = posted(two)
    draft = two.draft
    draft.document["worker"]["values"]["storage"]["git"].insert(0, repository("new"))
    draft.save()
    two.save(2, **before)
    assert stored(two) == [FIRST, SECOND]


@pytest.mark.parametrize("made_up", ["", "0", "forged", "f" * 32])
def test_a_made_up_remainder_of_an_item_finds_nothing(two: Wizard, made_up: str) -> None:
    two.save(2, **(posted(two) | {f"{GIT}-0-rest": made_up}))
    assert "name" not in stored(two)[0]
    assert stored(two)[1] == SECOND


def test_the_same_twice_is_given_out_once(two: Wizard) -> None:
    inputs = posted(two)
    two.save(2, **(inputs | {f"{GIT}-1-rest": inputs[f"{GIT}-0-rest"]}))
    assert stored(two)[0] == FIRST
    assert "name" not in stored(two)[1]


def test_a_copied_workload_keeps_what_the_form_does_not_show(two: Wizard) -> None:
    variables = [
        {"name": "LR", "value": "0.1", "description": "How fast it learns"},
        {"name": "SEED", "value": "1"},
    ]
    draft = two.draft
    draft.document["worker"]["values"]["environmentVariables"] = variables
    draft.save()
    workload: Workload = services.submit(draft.content, by=two.user)
    copy = services.copy(workload, by=two.user)
    two.open(f"/workloads/drafts/{copy.pk}/2/").press("save", **{f"{VARIABLES}-0-name": "RATE"})
    values = two.draft.content.worker.values
    assert values["environmentVariables"] == [variables[0] | {"name": "RATE"}, variables[1]]
    assert [item["name"] for item in values["storage"]["git"]] == ["first", "second"]
