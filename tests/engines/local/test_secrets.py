"""What credentials hold reaches the rank and nothing else."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil

from engines.base import Launch
from engines.local.records.layout import hold_lock
from engines.local.records.plan import GangPlan
from spec.phases import Phase, RankPhase, Reason
from spec.values.variable import CredentialKey, EnvironmentVariable
from spec.workload import Architecture
from tests.engines.local.conftest import LocalRig
from tests.waiting import wait_for

HIDDEN = "tr41n-l1ke-nobody-reads"


def with_secret(rig: LocalRig, script: str, **fields: Any) -> Launch:
    key = CredentialKey(asset_id=uuid4(), name="hub", key="token")
    launched = rig.shell(script, **fields)
    variable = EnvironmentVariable(name="HF_TOKEN", credential=key)
    worker = launched.spec.worker.model_copy(update={"environment_variables": (variable,)})
    spec = launched.spec.model_copy(update={"worker": worker})
    assert key.asset_id
    return replace(launched, spec=spec, secrets={key.asset_id: {"token": HIDDEN}})


def holding(folder: Path) -> set[str]:
    """Names of the files below that hold it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.name for path in files if HIDDEN.encode() in path.read_bytes()}


def test_only_the_rank_sees_a_secret_and_no_file_keeps_it(rig: LocalRig) -> None:
    script = '[ "$HF_TOKEN" = "tr41n-"l1ke-nobody-reads ] && echo right; while ! [ -e "$CHECKPOINT_DIR/go" ]; do sleep 0.05; done'  # noqa: E501
    launched = with_secret(rig, script)
    rig.submit(launched)
    wait_for(lambda: rig.log(launched) == "right\n", 20, "the rank to compare it")
    folder = rig.folder(launched)
    assert holding(rig.home) == {"secrets.json"}
    assert folder.secrets(1).stat().st_mode & 0o777 == 0o600
    lines = [" ".join(it.info["cmdline"] or ()) for it in psutil.process_iter(["cmdline"])]
    assert not [line for line in lines if HIDDEN in line]
    (folder.checkpoints / "go").touch()
    assert rig.over(launched).phase is Phase.COMPLETED
    wait_for(lambda: not holding(rig.home), 10, "the file to go with the run")


def test_a_second_attempt_and_a_new_supervisor_have_it_too(rig: LocalRig) -> None:
    script = 'echo "${#HF_TOKEN}"; cd "$CHECKPOINT_DIR"; [ -e up ] && exit 0; touch up; exit 3'
    launched = with_secret(
        rig, script, backoff_limit=2, num_workers=1, architecture=Architecture.WORKERS_ONLY
    )
    rig.submit(launched)
    observed = rig.over(launched)
    assert observed.phase is Phase.COMPLETED
    assert {rank.phase for rank in observed.ranks} == {RankPhase.SUCCEEDED}
    lengths = {rig.log(launched, 0, attempt=n).strip() for n in range(observed.attempt + 1)}
    assert lengths == {str(len(HIDDEN))}


def test_a_run_whose_values_are_lost_says_so_and_starts_no_rank(rig: LocalRig) -> None:
    launched = with_secret(rig, "exit 3", backoff_limit=1)
    folder = rig.folder(launched)
    folder.path.mkdir(mode=0o700, parents=True)
    with hold_lock(folder.supervisor_lock):  # its supervisor waits, and reads nothing yet
        rig.submit(launched)
        folder.secrets(1).unlink()
    observed = rig.over(launched)
    assert observed.phase is Phase.FAILED
    assert observed.reason is Reason.LOST
    assert "values of its credentials were lost" in observed.message


def test_no_document_of_a_plan_has_it(rig: LocalRig) -> None:
    plan = rig.engine.plan(with_secret(rig, "true"))
    assert plan.ranks[0].secrets == {"HF_TOKEN": HIDDEN}
    again = GangPlan.from_json(plan.to_json(), plan.secrets)
    assert again == plan
    rendered = str(rig.engine.render(with_secret(rig, "true")))
    assert HIDDEN not in rendered + repr(plan) + str(plan.to_json())
    assert "'HF_TOKEN': '***'" in rendered
