"""Wrong values of every field: kept as typed, told at the field, escaped, and never submitted."""

from collections import defaultdict
from collections.abc import Iterable
from html import escape
from itertools import zip_longest
from typing import Any

import pytest

from tests.workloads.wizard.browser import Inputs, Wizard
from workloads.models import Draft, Workload

pytestmark = pytest.mark.django_db
SCRIPT = "<script>alert(1)</script>"
RULE = "must start with a letter"
WHOLE = "must be a whole number"
GRACE = "terminationGracePeriodSeconds"
DELETION = "autoDeletionTimeAfterCompletionSeconds"
LIMIT = "timeLimitSeconds"
#: Chosen from a list, which has no place for another value.
GALLERIES = {"worker-environment", "worker-compute"}
CHOSEN = {"framework", "architecture"} | GALLERIES

WRONG = [
    # page, field, value, what is said
    (1, "name", "", "Name is required."),
    (1, "name", "Train", RULE),
    (1, "name", "1train", RULE),
    (1, "name", "train-", RULE),
    (1, "name", "my train", RULE),
    (1, "name", "träin", RULE),
    (1, "name", "a" * 55, "at most 54 leave room"),
    (1, "name", "a" * 150, "characters long"),
    (1, "name", SCRIPT, RULE),
    (1, "name", "x'; DROP TABLE workloads_workload; --", RULE),
    (1, "name", "$(reboot)", RULE),
    (1, "name", "../../etc", RULE),
    (1, "framework", "Caffe", "must be one of"),
    (1, "framework", "", "must be one of"),
    (1, "framework", SCRIPT, "must be one of"),
    (1, "architecture", "three-masters", "must be one of"),
    (2, "numWorkers", "0", "Number of workers must be at least 1."),
    (2, "numWorkers", "-3", "Number of workers must be at least 1."),
    (2, "numWorkers", "513", "Number of workers must be at most 512."),
    (2, "numWorkers", "99999999999999999999", WHOLE),
    (2, "numWorkers", "two", WHOLE),
    (2, "numWorkers", "2.5", WHOLE),
    (2, "numWorkers", "1e3", WHOLE),
    (2, "numWorkers", SCRIPT, WHOLE),
    (2, "worker-environment", "not-an-id", "Select an environment."),
    (2, "worker-environment", "", "Select an environment."),
    (2, "worker-environment", "00000000-0000-0000-0000-000000000000", "no longer exists"),
    (2, "worker-compute", "'; --", "Select a compute resource."),
    (2, "worker-compute", "00000000-0000-0000-0000-000000000000", "no longer exists"),
    (2, "worker-command", "x" * 10_001, "Command must be at most 10000 characters long."),
    (2, "worker-command", "sh -c 'open", "Command must close every quote"),
    (2, "worker-args", "x" * 10_001, "Arguments must be at most 10000 characters long."),
    (2, "setup", "true\n" + "x" * 2001, "Setup commands must be at most 2000 characters long."),
    (2, "setup", "true\n" * 201 + "true", "Setup commands must be at most 200 items long."),
    (2, GRACE, "-1", "Grace period must be at least 0 seconds."),
    (2, GRACE, "301", "Grace period must be at most 300 seconds (5 min)."),
    (2, GRACE, "soon", "Grace period must be a whole number of seconds"),
    (2, GRACE, "1.5", "Grace period must be a whole number of seconds"),
    (2, GRACE, "NaN", "Grace period must be a whole number of seconds"),
    (2, GRACE, "Infinity", "Grace period must be a whole number of seconds"),
    (2, GRACE, "1e9999999", "Grace period must be a whole number of seconds"),
    (2, LIMIT, "0", "Time limit must be at least 1 second"),
    (2, LIMIT, "99999999999", "Time limit must be at most"),
    (2, LIMIT, "forever", "Time limit must be a whole number of seconds"),
    (2, "backoffLimit", "-1", "Backoff limit must be at least 0."),
    (2, "backoffLimit", "101", "Backoff limit must be at most 100."),
    (2, "backoffLimit", "many", WHOLE),
    (2, DELETION, "-1", "Timeframe for auto-deletion must be at least 0 seconds."),
    (2, DELETION, "999999999999", "must be at most"),
    (2, DELETION, "never", "must be a whole number of seconds"),
]
NAMES = [
    # list, name, value, what is said
    ("environmentVariables", "", "1", "is required"),
    ("environmentVariables", "1ABC", "", "is not a variable name"),
    ("environmentVariables", "A B", "", "is not a variable name"),
    ("environmentVariables", "A=B", "", "is not a variable name"),
    ("environmentVariables", "LD_PRELOAD\nX", "", "is not a variable name"),
    ("environmentVariables", SCRIPT, "", "is not a variable name"),
    ("environmentVariables", "A" * 257, "", "at most 256 characters"),
    ("environmentVariables", "A", "v" * 32_769, "at most 32768 characters"),
    ("labels", "", "x", "is required"),
    ("labels", "two words", "x", "is not a label name"),
    ("labels", "-team", "x", "is not a label name"),
    ("labels", SCRIPT, "x", "is not a label name"),
    ("labels", "a: b\n  hostNetwork", "x", "is not a label name"),
    ("labels", "a" * 64, "x", "at most 63 characters"),
    ("labels", "team", "v v", "must contain only letters, digits, and - _ . between them"),
    ("annotations", "", "x", "is required"),
    ("annotations", "a/b/c", "x", "is not a label name"),
    ("annotations", "a" * 64, "x", "at most 63 characters"),
    ("annotations", "note", "x" * 4097, "at most 4096 characters"),
]


def row(key: str, name: str, value: str, at: int = 0, role: str = "worker") -> dict[str, str]:
    prefix = f"{role}-{key}"
    return {prefix: "rows", f"{prefix}-{at}-name": name, f"{prefix}-{at}-value": value}


def check_refused(wizard: Wizard, page: int, told: Iterable[str], fields: dict[str, str]) -> None:
    """Enter these fields. What is wrong is told on their page, and nothing can be submitted."""
    wizard.save(page, **fields)
    wizard.open(wizard.at(page))
    assert [words for words in told if escape(words) not in wizard.page] == [], fields
    assert SCRIPT not in wizard.page, fields
    assert not wizard.plan().is_submittable, fields


def rounds(page: int) -> list[list[tuple[str, str, str]]]:
    """Return the wrong values of a page, in rounds of one value for each field. A choice from a
    gallery is alone in its round: what else is wrong with its asset is told once it is chosen."""
    by_field: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    alone = []
    for its_page, field, value, told in WRONG:
        wrong = (field, value, told)
        if its_page == page and field in GALLERIES:
            alone.append([wrong])
        elif its_page == page:
            by_field[field].append(wrong)
    return [*alone, *(list(filter(None, at_once)) for at_once in zip_longest(*by_field.values()))]


@pytest.mark.parametrize("page", [1, 2])
def test_a_wrong_value_is_kept_told_and_refused(wizard: Wizard, page: int) -> None:
    complete = wizard.ready().draft.document
    for wrong in rounds(page):
        entered = {field: value for field, value, _ in wrong}
        check_refused(wizard, page, [told for *_, told in wrong], entered)
        kept = Inputs(wizard.page).values
        typed = entered.keys() - CHOSEN
        assert {field: kept[field] for field in typed} == {field: entered[field] for field in typed}
        Draft.objects.update(document=complete)


def test_each_wrong_value_alone_keeps_a_workload_from_being_submitted(wizard: Wizard) -> None:
    """One value of each field, because the page of a round is refused for any of them."""
    complete = wizard.ready().draft.document
    for page, field, value, _ in {field: wrong for wrong in WRONG for field in [wrong[1]]}.values():
        wizard.save(page, **{field: value})
        assert not wizard.plan().is_submittable, field
        Draft.objects.update(document=complete)


def test_a_wrong_row_is_kept_told_and_refused(wizard: Wizard) -> None:
    complete = wizard.ready().draft.document
    by_list: dict[str, list[tuple[str, str, str, str]]] = defaultdict(list)
    for wrong in NAMES:
        by_list[wrong[0]].append(wrong)
    for at_once in zip_longest(*by_list.values()):
        entered: dict[str, str] = {}
        for key, name, value, _ in filter(None, at_once):
            entered |= row(key, name, value)
        check_refused(wizard, 2, [told for *_, told in filter(None, at_once)], entered)
        kept = Inputs(wizard.page).values
        for key, _, value, _ in filter(None, at_once):
            assert kept[f"worker-{key}-0-value"] == value
        Draft.objects.update(document=complete)


def test_a_name_given_twice_is_refused_in_the_wizard(wizard: Wizard) -> None:
    complete = wizard.ready().draft.document
    for key in ("environmentVariables", "labels", "annotations"):
        check_refused(wizard, 2, "A is given twice", row(key, "A", "1") | row(key, "A", "2", at=1))
        Draft.objects.update(document=complete)


def test_nothing_is_submitted_while_a_value_is_wrong(wizard: Wizard) -> None:
    complete = wizard.ready().draft.document
    for page, field, value, told in (WRONG[0], WRONG[17], WRONG[-1]):
        wizard.save(page, **{field: value})
        wizard.open(wizard.at(3)).press("create")
        assert wizard.status == 422
        assert escape(told) in wizard.page
        assert not Workload.objects.exists()
        Draft.objects.update(document=complete)


GOOD: list[tuple[dict[str, Any], str, Any]] = [
    ({"numWorkers": "512"}, "num_workers", 512),
    ({"numWorkers": ""}, "num_workers", 1),
    ({GRACE: "0"}, "termination_grace_period_seconds", 0),
    ({GRACE: "5", f"{GRACE}-unit": "min"}, "termination_grace_period_seconds", 300),
    ({GRACE: "1.5", f"{GRACE}-unit": "min"}, "termination_grace_period_seconds", 90),
    ({LIMIT: "1.5", f"{LIMIT}-unit": "hours"}, "time_limit_seconds", 5400),
    ({LIMIT: "", f"{LIMIT}-unit": "hours"}, "time_limit_seconds", None),
    ({"backoffLimit": "0"}, "backoff_limit", 0),
    ({"backoffLimit": "1"}, "backoff_limit", 1),
    ({"backoffLimit": "100"}, "backoff_limit", 100),
    ({DELETION: "0"}, "auto_deletion_time_after_completion_seconds", 0),
    (
        {DELETION: "7", f"{DELETION}-unit": "days"},
        "auto_deletion_time_after_completion_seconds",
        604_800,
    ),
]


def test_the_ends_of_every_range_are_good(wizard: Wizard) -> None:
    complete = wizard.ready().draft.document
    for fields, name, value in GOOD:
        wizard.save(2, **fields)
        spec = wizard.plan().spec
        assert spec is not None, fields
        assert getattr(spec, name) == value, fields
        Draft.objects.update(document=complete)


def test_a_command_is_never_read_by_a_shell_or_a_page(wizard: Wizard) -> None:
    command = f"python x.py; rm -rf / && $(id) `id` | tee {SCRIPT} 'a quote'"
    wizard.ready()
    wizard.save(2, **{"worker-command": command})
    page = wizard.open(wizard.at(2)).page
    assert SCRIPT not in page
    assert Inputs(page).values["worker-command"] == command
    wizard.open(wizard.at(3)).press("create")
    assert Workload.objects.get().spec.worker.command == command
