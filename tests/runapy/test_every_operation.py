"""Each operation of NVIDIA's client stands once in docs/api.md, and what is not there is said."""

import re
from collections import Counter

from django.test import Client

from config.rest.unsupported import UNSUPPORTED, find_reason
from config.run.install import ROOT
from tests.runapy.operations import operations

OPERATIONS = list(operations())
DOCUMENT = (ROOT / "docs" / "api.md").read_text()
DIFFERS = "\n## What answers"
LACKS = "\n## What is answered with 501"
LAST = "\n## What the client"
NAME = re.compile(r"`(\w+Api\.\w+)`")


def part(start: str, end: str) -> str:
    return DOCUMENT[DOCUMENT.index(start) if start else 0 : DOCUMENT.index(end)]


def unsupported() -> dict[str, str]:
    """By operation, why; a class alone means all of its operations."""
    reasons = {}
    for row in re.findall(r"^\| (.+?) \| (`.+`) \|$", part(LACKS, LAST), re.MULTILINE):
        names = {*NAME.findall(row[1]), *re.findall(r"`(\w+Api)`", row[1])}
        for operation in OPERATIONS:
            if names & {operation.name, operation.name.partition(".")[0]}:
                reasons[operation.name] = row[0]
    return reasons


def test_the_document_has_each_operation_of_the_client_once() -> None:
    listed = Counter(NAME.findall(part("", DIFFERS)))
    listed += Counter(NAME.findall(part(DIFFERS, LACKS))) + Counter([*unsupported()])
    assert listed == Counter(operation.name for operation in OPERATIONS)


def test_the_document_counts_them() -> None:
    lists = part("", DIFFERS), part(DIFFERS, LACKS)
    counts = [len(OPERATIONS), *(len(NAME.findall(text)) for text in lists), len(unsupported())]
    introduction = part("", "\n| class |")
    assert re.findall(r"(?:has|deprecated\.|others,|and) (\d+)\b", introduction) == [
        str(count) for count in counts
    ]


def test_operations_that_are_missing_are_answered_with_the_reason_in_the_document(
    db: None,
) -> None:
    web = Client()
    reasons = unsupported()
    for operation in OPERATIONS:
        why = reasons.get(operation.name)
        answer = web.generic(operation.method, operation.path, content_type="application/json")
        if why is None:
            assert answer.status_code != 501, operation.name
            assert find_reason(operation.path.removeprefix("/api/")) == "", operation.name
        else:
            assert answer.status_code == 501, operation.name
            body = answer.json()
            assert (body["code"], body["details"]) == (501, why), operation.name


def test_every_reason_is_about_an_operation_and_no_address_is_guessed() -> None:
    assert set(unsupported().values()) == set(UNSUPPORTED)
    assert find_reason("v2/x") == find_reason("v1/workloads") == find_reason("v1/idpsx") == ""
    assert find_reason("v1/idps/5/anything")
