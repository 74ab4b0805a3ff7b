"""A whole product runs a workload with a credential: the value is nowhere but in the rank."""

import re
from pathlib import Path

import httpx
import psutil
import pytest

from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.faults

HIDDEN = "tr41n-l1ke-nobody-reads"
WAITS = "sh -c 'echo ${#HF_TOKEN} letters; while ! [ -e $CHECKPOINT_DIR/go ]; do sleep 0.1; done'"


def create_credential(trainyard: Trainyard) -> None:
    with httpx.Client(base_url=trainyard.url, cookies=trainyard.sign_in(), timeout=20) as web:
        form = web.get("/credentials/new/").text
        (token,) = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', form))
        answer = web.post(
            "/credentials/new/",
            data={
                "csrfmiddlewaretoken": token,
                "cluster": "account",
                "scope": "account",
                "name": "hub",
                "kind": "genericSecret",
                "values-pairs-0-rest": "",
                "values-pairs-0-name": "token",
                "values-pairs-0-value": HIDDEN,
            },
        )
        assert answer.is_redirect, answer.text
        page = web.get(answer.headers["Location"]).text
        assert "token" in page
        assert HIDDEN not in page


def holding(home: Path) -> set[str]:
    """Files of the product that hold the value, the database and the broker's among them."""
    files = (path for path in home.rglob("*") if path.is_file())
    return {path.name for path in files if HIDDEN.encode() in path.read_bytes()}


def test_a_credential_reaches_the_rank_and_nothing_else(trainyard: Trainyard, rest: Rest) -> None:
    create_credential(trainyard)
    variable = {"name": "HF_TOKEN", "credential": {"name": "hub", "key": "token"}}
    workload = rest.submit("secretive", workers=1, command=WAITS, environmentVariables=[variable])
    rest.wait(workload, "Running")
    wait_for(lambda: "letters" in rest.log(workload), 20, "the rank to speak")
    assert rest.log(workload).strip() == f"{len(HIDDEN)} letters"
    assert holding(trainyard.home) == {"secrets.json"}, "as long as it runs"
    lines = [" ".join(it.info["cmdline"] or ()) for it in psutil.process_iter(["cmdline"])]
    assert not [line for line in lines if HIDDEN in line]
    assert HIDDEN not in str([rest.read(workload), rest.events(workload), rest.pods(workload)])
    (checkpoints,) = trainyard.home.rglob(f"{workload}/checkpoints")
    (checkpoints / "go").touch()
    assert rest.wait(workload, "Completed", "Failed") == "Completed"
    wait_for(lambda: not holding(trainyard.home), 10, "the file to go with the run")
