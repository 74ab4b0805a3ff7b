"""Any spec as a command line: typed into this program, it is the same spec again."""

import shlex
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from spec.formats import documents
from spec.formats.merge import without_empty
from spec.kind import WorkloadKind
from spec.workload import WorkloadSpec
from tests.spec.any_spec import specs
from tests.trainyard_cli.receiver import Receiver, receiver, stored
from trainyard_cli.flags.body import apply_typed
from trainyard_cli.flags.line import command_line, typing_for
from trainyard_cli.flags.table import FLAGS, CliFlag
from trainyard_cli.flags.values import BadValue, NotWritable

__all__ = ["receiver"]

Body = dict[str, Any]


def body_of(spec: WorkloadSpec) -> Body:
    """The request of the wizard's summary, which a program would send."""
    document = documents.without_defaults(documents.dump_spec(spec))
    body: Body = {"name": "train", "spec": without_empty(documents.to_wire(document))}
    if document.get("architecture") == "workers_only":
        body["noMaster"] = True
    if (master := documents.master_to_wire(document)) is not None:
        body["masterSpec"] = without_empty(master)
    return body


def line_of(spec: WorkloadSpec) -> str:
    return command_line(body_of(spec), spec.kind.traits.path, "team-a")


@settings(max_examples=60)
@given(spec=specs())
def test_any_request_is_made_of_what_is_typed_for_it(spec: WorkloadSpec) -> None:
    body = body_of(spec)
    body.pop("name")
    body["spec"].pop("distributedFramework", None)
    assert apply_typed({}, typing_for(body), {}) == body


@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(spec=specs())
def test_any_spec_comes_back_from_its_command_line(spec: WorkloadSpec, receiver: Receiver) -> None:
    line = line_of(spec)
    body = body_of(spec)
    # As REST stores it: the wire has a list for each kind of connection, and no order over them.
    assert receiver.typed(line) == stored(body, spec.kind), line


def test_the_line_is_one_that_people_write() -> None:
    spec = documents.load_spec(
        {
            "distributedFramework": "PyTorch",
            "numWorkers": 2,
            "worker": {
                "image": "kubeflow/pytorch-dist-mnist:latest",
                "compute": {
                    "gpuDevicesRequest": 1,
                    "gpuRequestType": "portion",
                    "gpuPortionRequest": 0.1,
                },
                "environmentVariables": [{"name": "A", "value": "1 2"}],
                "command": "python train.py --epochs 3",
            },
            "timeLimitSeconds": 7200,
        }
    )
    assert line_of(spec).split(" \\\n  ") == [
        "trainyard training pytorch submit train",
        "--project team-a",
        "--workers 2",
        "--gpu-devices-request 1",
        "--gpu-request-type portion",
        "--gpu-portion-request 0.1",
        "--image kubeflow/pytorch-dist-mnist:latest",
        "--environment-variable 'A=1 2'",
        "--time-limit 2h",
        "--command -- python train.py --epochs 3",
    ]


def test_a_master_of_its_own_is_said_in_flags_for_it_alone(receiver: Receiver) -> None:
    worker = {"image": "a:1", "compute": {"gpuDevicesRequest": 2}, "args": "-v"}
    spec = documents.load_spec(
        {
            "distributedFramework": "PyTorch",
            "worker": worker,
            "master": {**worker, "compute": {"gpuDevicesRequest": 0, "cpuCoreRequest": 4.0}},
        }
    )
    line = line_of(spec)
    assert "--master-cpu-core-request 4" in line
    assert "--master-image" not in line
    assert receiver.typed(line) == spec


def test_secret_values_are_taken_from_the_shell(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = [{"name": "HF_TOKEN", "value": "***"}]
    body = {"name": "a", "spec": {"image": "a:1", "environmentVariables": variables}}
    line = command_line(body, "trainings", "team-a")
    assert "--environment-variable HF_TOKEN" in line
    monkeypatch.setenv("HF_TOKEN", "hf_abc")
    typed = receiver.typed(line)
    assert typed.worker.environment_variables[0].value == "hf_abc"


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"image": 5, "labels": "no list", "compute": None},
        {"compute": {"gpuDevicesRequest": "many"}, "storage": {"pvc": [1, None, {}]}},
        {"command": "'open", "args": "$(id)", "numWorkers": "x"},
        {"tolerations": [{"key": "a", "seconds": "soon"}], "ports": [{"container": "x"}]},
        {"environmentVariables": [{"name": "T", "secret": {"name": "", "key": "k"}}]},
        {"environmentVariables": [{"name": "", "value": "k"}, {"name": "A=B", "value": ""}]},
    ],
)
def test_a_draft_that_is_no_spec_yet_has_a_line_too(spec: Body) -> None:
    line = command_line({"name": "", "spec": spec}, "distributed")
    assert line.startswith("trainyard distributed submit")
    assert shlex.split(line.replace("\\\n", ""))
    given = {key: value for key, value in spec.items() if value is not None}
    assert apply_typed({}, typing_for({"spec": spec}), {})["spec"] == given


@pytest.mark.parametrize("flag", FLAGS, ids=lambda it: it.name)
def test_a_value_that_no_flag_can_say_is_told(flag: CliFlag) -> None:
    shapes: list[Any] = [None, 5, -1.5, "", "a b", [], [None], {}, {"name": 5}]
    for kind in ("Required", "Preferred"):
        shapes += [{"type": kind}, {"type": kind, "key": 5}, {"type": kind, "key": None}]
    for shape in shapes:
        with suppress(NotWritable, BadValue):
            assert isinstance(flag.kind.write(shape), str)


def test_every_field_that_people_know_has_a_flag_of_its_own() -> None:
    """``--set`` alone is for these, which are objects deep down."""
    own = {flag.path for flag in FLAGS} | {"command", "distributedFramework"}
    every = set()
    for kind in WorkloadKind:
        spec: Body = {"kind": kind, "worker": {"image": "a:1"}}
        spec |= {"distributedFramework": "PyTorch"} if kind.is_gang else {}
        document = documents.to_wire(documents.dump_spec(documents.load_spec(spec)))
        every |= {
            f"{key}.{inner}" if isinstance(value, dict) else key
            for key, value in document.items()
            for inner in (value if isinstance(value, dict) else [""])
        }
    only_set = {it for it in every - own if not it.startswith("probes.")}
    assert only_set == {"nodeAffinityRequired"}
