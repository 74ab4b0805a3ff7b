"""Credentials and settings as files that ranks of this machine read."""

from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from engines.base import Launch
from spec.phases import Phase
from tests.engines.local.conftest import LocalRig
from tests.engines.local.volumes import mounting, needs_mounts
from tests.waiting import wait_for

KEYS, CONF = "/trainyard-keys", "/trainyard-conf"
HIDDEN = "tr41n-l1ke-nobody-reads"


def with_files(rig: LocalRig, script: str, retries: int = 0) -> Launch:
    pk = uuid4()
    named = {"assetId": str(pk), "name": "hub", "keys": ["token", "cert.pem"]}
    conf = {
        "files": [{"name": "train.yaml", "content": "lr: 0.1\n"}],
        "mountPath": CONF,
        "defaultMode": "0444",
    }
    launched = mounting(
        rig,
        script,
        workers=2,
        retries=retries,
        secretVolume=[{"credential": named, "mountPath": KEYS}],
        configMapVolume=[conf],
    )
    return replace(launched, secrets={pk: {"token": HIDDEN, "cert.pem": "c", "other": "none"}})


def test_ranks_read_the_keys_of_a_credential_and_a_configuration(
    rig: LocalRig, tmp_path: Path
) -> None:
    needs_mounts(tmp_path)
    show = f"stat -c %a:%n {KEYS}/* {CONF}/*; cat {CONF}/train.yaml; wc -c < {KEYS}/token"
    change = f"touch {KEYS}/new 2>/dev/null || echo unchangeable"
    launched = rig.submit(with_files(rig, f"{show}; {change}"))
    assert rig.over(launched).phase is Phase.COMPLETED, rig.over(launched).message
    for rank in (0, 1):
        assert rig.log(launched, rank).splitlines() == [
            f"600:{KEYS}/cert.pem",
            f"600:{KEYS}/token",
            f"444:{CONF}/train.yaml",
            "lr: 0.1",
            str(len(HIDDEN)),
            "unchangeable",
        ]

    def holding() -> list[Path]:
        files = (path for path in rig.home.rglob("*") if path.is_file())
        return [path for path in files if HIDDEN in path.read_text()]

    wait_for(lambda: not holding(), 10, "the files to go with the run")


def test_a_second_attempt_has_the_files_too(rig: LocalRig, tmp_path: Path) -> None:
    needs_mounts(tmp_path)
    script = f"cat {KEYS}/cert.pem; cd $CHECKPOINT_DIR; mkdir up$RANK || exit 0; exit 3"
    launched = rig.submit(with_files(rig, script, retries=3))
    ended = rig.over(launched)
    assert ended.phase is Phase.COMPLETED
    assert rig.log(launched, attempt=ended.attempt).startswith("c")


def test_the_files_are_in_no_document_of_a_plan(rig: LocalRig) -> None:
    launched = with_files(rig, "true")
    plan = rig.engine.plan(launched)
    assert HIDDEN not in str(rig.engine.render(launched)) + repr(plan) + str(plan.to_json())
    assert type(plan).from_json(plan.to_json(), plan.secrets) == plan
    assert replace(plan, files={}).lacks_secrets
