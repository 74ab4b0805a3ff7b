"""A whole product runs a workload with a credential: the value is nowhere but in the rank."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.engines.local import buckets, forges
from tests.engines.local.volumes import needs_mounts
from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.faults

LOOKED_AT = {"trainyard.sqlite3", "valkey", "run"}  # the database, the broker, logs of the programs
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


def create(
    rest: Rest, kind: str, name: str, spec: dict[str, Any], *, private: bool = False
) -> None:
    meta = {"name": name, "scope": "tenant", "private": private}
    rest.send("POST", f"/asset/credentials/{kind}", {"meta": meta, "spec": spec})


def pair(value: str) -> dict[str, Any]:
    return {"keyValuePairs": [{"key": "token", "value": value}]}


#: Reads the lengths of all that it was given, and waits to be looked at.
READS = (
    "sh -c 'cat /trainyard-code/version /trainyard-sets/b; wc -c < /trainyard-keys/token; "
    "echo ${#HF_TOKEN} letters; while ! [ -e $CHECKPOINT_DIR/go ]; do sleep 0.1; done'"
)


@contextmanager
def opened(rest: Rest, folder: Path) -> Iterator[tuple[dict[str, Any], set[str]]]:
    """What a workload asks for, with a password for Git, an access key for S3, a generic secret as
    files and an own one; and what nobody may read."""
    forges.make_repository(folder / "code")
    with (
        forges.web(folder, known=f"ada:{HIDDEN}-git") as forge,
        buckets.store({"b": b"two\n"}) as store,
        buckets.asking_who(),
    ):
        create(rest, "password", "forge", {"user": "ada", "password": f"{HIDDEN}-git"})
        keys = {"accessKeyId": store.access_key, "secretAccessKey": store.secret_key}
        create(rest, "access-key", "store", keys)
        create(rest, "generic-secret", "files", pair(f"{HIDDEN}-file"))
        create(rest, "generic-secret", "mine", pair(f"{HIDDEN}-own"), private=True)
        git = {"repository": f"{forge}/code/.git", "path": "/trainyard-code"}
        s3 = {"bucket": "sets", "url": store.url, "path": "/trainyard-sets"}
        storage = {
            "git": [{**git, "credential": {"name": "forge"}}],
            "s3": [{**s3, "credential": {"name": "store"}}],
            "secretVolume": [{"mountPath": "/trainyard-keys", "credential": {"name": "files"}}],
        }
        variable = {"name": "HF_TOKEN", "credential": {"name": "mine"}}
        spec = {"command": READS, "storage": storage, "environmentVariables": [variable]}
        yield spec, {HIDDEN, store.secret_key}


def failed_fetch(rest: Rest, spec: dict[str, Any]) -> str:
    """A workload that says in an error what it could not fetch with the password."""
    (git,) = spec["storage"]["git"]
    lost = {**git, "repository": git["repository"].replace("/code/", "/lost/")}
    workload = rest.submit(
        "refused",
        workers=1,
        noMaster=True,
        **{**spec, "storage": {"git": [lost]}, "backoffLimit": 0},
    )
    assert rest.wait(workload, "Failed", "Running") == "Failed"
    assert "/lost/.git" in rest.read(workload)["phaseMessage"]
    return workload


def said_of(rest: Rest, workload: str) -> list[Any]:
    return [rest.read(workload), rest.events(workload), rest.pods(workload), rest.log(workload)]


def pages_of(trainyard: Trainyard, workload: str) -> list[str]:
    """Its own, and that of its spec."""
    places = [f"/workloads/{workload}/", f"/workloads/{workload}/spec/"]
    with httpx.Client(base_url=trainyard.url, cookies=trainyard.sign_in(), timeout=20) as web:
        pages = [web.get(place, follow_redirects=True) for place in places]
    assert all(page.is_success for page in pages)
    return [page.text for page in pages]


def test_own_values_reach_only_the_rank_and_the_fetching_program(
    trainyard: Trainyard, rest: Rest, tmp_path: Path
) -> None:
    needs_mounts(tmp_path)
    with opened(rest, tmp_path) as (spec, values):
        workload = rest.submit("opened", workers=1, noMaster=True, **spec)
        rest.wait(workload, "Running")
        tried = rest.document("tried", workers=1, noMaster=True, **spec)
        plan = rest.send("POST", "/workloads/distributed?dryRun=true", tried)
        refused = failed_fetch(rest, spec)
    wait_for(lambda: "letters" in rest.log(workload), 20, "the rank to speak")
    lengths = [str(len(HIDDEN) + 5), str(len(HIDDEN) + 4)]
    assert rest.log(workload).split()[-5:] == ["2", "two", *lengths, "letters"]

    def held() -> set[str]:
        files = [path for path in trainyard.home.rglob("*") if path.is_file()]
        assert {it.relative_to(trainyard.home).parts[0] for it in files} >= LOOKED_AT
        return {it.name for it in files if any(x.encode() in it.read_bytes() for x in values)}

    assert held() == {"secrets.json", "token"}, "for the rank, as long as it runs"
    lines = [" ".join(it.info["cmdline"] or ()) for it in psutil.process_iter(["cmdline"])]
    shown = [plan, *said_of(rest, refused), *said_of(rest, workload)]
    shown += [rest.send("GET", "/asset/credentials"), *lines, *pages_of(trainyard, workload)]
    assert not [text for text in map(str, shown) if any(value in text for value in values)]
    (checkpoints,) = trainyard.home.rglob(f"{workload}/checkpoints")
    (checkpoints / "go").touch()
    assert rest.wait(workload, "Completed", "Failed") == "Completed"
    wait_for(lambda: not held(), 10, "the files to go with the run")
