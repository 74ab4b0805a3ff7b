"""What the ranks see."""

import json
import re
import shlex
import sys
from typing import Any

import pytest

from engines.base import Launch
from spec.framework import Framework
from spec.kind import WorkloadKind
from spec.parts.compute import Compute
from spec.phases import Phase
from spec.values.variable import EnvironmentVariable as Variable
from spec.workload import Replica
from tests.engines.local.conftest import LocalRig
from tests.engines.references import VARIABLES, expanded_values

#: Each process writes its line at once: parts of two processes would mix.
OF_TORCHRUN = (
    "import os; names = ('RANK', 'LOCAL_RANK', 'WORLD_SIZE'); "
    "os.write(1, (' '.join(os.environ[name] for name in names) + os.linesep).encode())"
)
PRINT = "import json, os; print(json.dumps(dict(os.environ)))"


def seen_by(rig: LocalRig, launched: Launch) -> list[dict[str, str]]:
    rig.submit(launched)
    ranks = len(rig.over(launched).ranks)
    return [json.loads(rig.log(launched, rank)) for rank in range(ranks)]


def variables(rig: LocalRig, framework: Framework, **fields: Any) -> list[dict[str, str]]:
    return seen_by(rig, rig.python(PRINT, distributed_framework=framework, **fields))


def processes_of(rig: LocalRig, launched: Launch, rank: int = 0) -> list[str]:
    """What each process of a rank printed. torchrun itself may say more behind it: the rank that
    serves the others as a store may be gone before all of them heard that they are done."""
    lines = rig.log(launched, rank).splitlines()
    return sorted(line for line in lines if re.fullmatch(r"\d \d \d", line))


def test_pytorch_as_kubeflow_injects_it(rig: LocalRig) -> None:
    ranks = variables(rig, Framework.PYTORCH, num_workers=2)
    for number, seen in enumerate(ranks):
        expected = {
            "MASTER_ADDR": "127.0.0.1",
            "WORLD_SIZE": "3",
            "RANK": str(number),
            "LOCAL_RANK": "0",
            "PET_MASTER_ADDR": "127.0.0.1",
            "PET_MASTER_PORT": ranks[0]["MASTER_PORT"],
            "PET_NODE_RANK": str(number),
            "PET_NNODES": "3",
            "PET_NPROC_PER_NODE": "1",
            "PYTHONUNBUFFERED": "1",
            "OMP_NUM_THREADS": "1",
            "CUDA_VISIBLE_DEVICES": "",
        }
        assert expected.items() <= seen.items()
    assert len({seen["MASTER_PORT"] for seen in ranks}) == 1


def test_torchrun_starts_several_processes_in_a_pod_without_a_framework(rig: LocalRig) -> None:
    launched = rig.shell(
        f'exec torchrun --no-python python -c "{OF_TORCHRUN}"',
        kind=WorkloadKind.TRAINING,
        distributed_framework=None,
        processes_per_pod=2,
    )
    rig.submit(launched)
    assert rig.over(launched).phase is Phase.COMPLETED
    assert processes_of(rig, launched) == ["0 0 2", "1 1 2"]


def test_torchrun_starts_as_many_processes_as_are_asked_for(rig: LocalRig) -> None:
    launched = rig.shell(
        f'exec torchrun --no-python python -c "{OF_TORCHRUN}"',
        distributed_framework=Framework.PYTORCH,
        processes_per_pod=2,
    )
    rig.submit(launched)
    assert rig.over(launched).phase is Phase.COMPLETED
    assert [processes_of(rig, launched, rank) for rank in range(2)] == [
        ["0 0 4", "1 1 4"],
        ["2 0 4", "3 1 4"],
    ]


def test_the_names_that_runai_promises(rig: LocalRig) -> None:
    launched = rig.python(PRINT)
    seen = seen_by(rig, launched)[1]
    uid = str(launched.handle.workload_id)
    assert {
        "RUNAI_PROJECT": "team-a",
        "RUNAI_JOB_NAME": "demo",
        "RUNAI_JOB_UUID": uid,
        "RUNAI_NUM_OF_GPUS": "0",
        "JOB_NAME": "demo",
        "JOB_UUID": uid,
        "POD_INDEX": "1",
        "NODE_NAME": rig.engine.nodes()[0].name,
    }.items() <= seen.items()


def test_ranks_of_tensorflow_get_tf_config(rig: LocalRig) -> None:
    ranks = [json.loads(seen["TF_CONFIG"]) for seen in variables(rig, Framework.TENSORFLOW)]
    assert ranks[0]["cluster"] == ranks[1]["cluster"]
    assert {kind: len(addresses) for kind, addresses in ranks[0]["cluster"].items()} == {
        "chief": 1,
        "worker": 1,
    }
    assert [rank["task"]["type"] for rank in ranks] == ["chief", "worker"]


def test_a_single_rank_of_tensorflow_gets_no_tf_config(rig: LocalRig) -> None:
    [seen] = variables(rig, Framework.TENSORFLOW, architecture="workers_only")
    assert "TF_CONFIG" not in seen


def test_ranks_of_xgboost_and_jax_get_their_variables(rig: LocalRig) -> None:
    seen = variables(rig, Framework.XGBOOST)[1]
    assert (seen["RANK"], seen["WORLD_SIZE"], seen["MASTER_ADDR"]) == ("1", "2", "127.0.0.1")
    seen = variables(rig, Framework.JAX)[1]
    assert (seen["PROCESS_ID"], seen["NUM_PROCESSES"]) == ("1", "2")
    assert seen["COORDINATOR_PORT"].isdigit()


def test_variables_of_the_user_win_but_for_the_rendezvous(rig: LocalRig) -> None:
    given = {
        "RANK": "9",
        "NODE_NAME": "mine",
        "OMP_NUM_THREADS": "2",
        "CUDA_DEVICE_ORDER": "FASTEST_FIRST",
        "CUDA_VISIBLE_DEVICES": "0",
    }
    worker = Replica(
        image="any",
        command=rig.python(PRINT).spec.worker.command,
        environment_variables=tuple(Variable(name=n, value=v) for n, v in given.items()),
    )
    seen = seen_by(rig, rig.python(PRINT, worker=worker))[1]
    assert {name: seen[name] for name in given} == {
        "RANK": "1",
        "NODE_NAME": "mine",
        "OMP_NUM_THREADS": "2",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": "",
    }


def test_the_servers_own_variables_stay_outside(
    rig: LocalRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TRAINYARD_SECRET_KEY", "DATABASE_URL", "SECRET_KEY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "leaked")
    assert "leaked" not in variables(rig, Framework.PYTORCH)[0].values()


def test_the_preview_shows_what_will_run_and_no_secret(rig: LocalRig) -> None:
    secret = Variable(name="HF_TOKEN", value="tell-nobody")
    worker = Replica(
        image="known/image",
        args="--epochs 3",
        environment_variables=(secret,),
        compute=Compute(cpu_memory_limit="1G"),
    )
    shown = rig.engine.render(rig.shell("", worker=worker))
    assert [document["name"] for document in shown] == ["demo-master-0", "demo-worker-0"]
    assert shown[1]["command"].endswith("--epochs 3")
    assert shown[1]["limits"] == {"memory": 10**9}
    assert shown[1]["environment"]["RANK"] == "1"
    assert "tell-nobody" not in str(shown)


def test_a_rank_without_a_framework_meets_nobody(rig: LocalRig) -> None:
    alone = {"kind": WorkloadKind.TRAINING, "distributed_framework": None}
    (only,) = seen_by(rig, rig.python(PRINT, **alone))
    assert not only.keys() & {"MASTER_ADDR", "WORLD_SIZE", "RANK", "PET_NNODES", "TF_CONFIG"}
    assert only["POD_INDEX"] == "0"


def test_values_refer_to_earlier_variables_as_on_kubernetes(rig: LocalRig) -> None:
    worker = Replica(image="any", command=shlex.join([sys.executable, "-c", PRINT]))
    worker = worker.model_copy(update={"environment_variables": VARIABLES})
    launched = rig.shell("true", worker=worker)
    for seen in seen_by(rig, launched):
        expected = expanded_values(launched.handle.name)
        assert {name: seen[name] for name in expected} == expected
