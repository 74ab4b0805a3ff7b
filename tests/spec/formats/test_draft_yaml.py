"""A draft as YAML and back: nothing is lost, and what has no place is named at its line."""

import re
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spec.draft import ReplicaDraft, WorkloadDraft
from spec.formats import documents
from spec.formats.draft_yaml import Names, parse_draft_yaml, write_draft_yaml
from spec.formats.lines import YamlError
from spec.values.variable import MASK
from spec.workload import WorkloadSpec
from tests.spec import any_spec

BLANK = WorkloadDraft()
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])) | st.text(
    "ab \n\t\r:#-'\"|>\x85", max_size=12
)


def problems(text: str) -> list[tuple[int, str]]:
    with pytest.raises(YamlError) as refused:
        parse_draft_yaml(text, BLANK, Names())
    return [(problem.line, problem.message) for problem in refused.value.problems]


# Random documents are kept if they are valid; it is no fault that many are not.
@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(any_spec.specs())
def test_any_valid_spec_survives_yaml(spec: WorkloadSpec) -> None:
    draft = any_spec.draft_of(spec)
    back = parse_draft_yaml(write_draft_yaml(draft, Names()), draft, Names())
    assert back == draft
    gang: dict[str, Any] = {"distributedFramework": back.framework or None}
    replicas = {role: replica.values for role, replica in back.replicas.items()}
    if not back.has_roles:
        gang["architecture"] = back.architecture
    whole = {"kind": back.kind, **(gang if back.is_gang else {}), **back.values}
    whole |= {} if back.has_roles else replicas
    assert documents.load_spec(whole) == spec


def test_of_one_pod_yaml_says_nothing_that_only_several_have() -> None:
    text = "kind: training\nnoMaster: true\nspec:\n  image: x\n  numWorkers: 1\n"
    assert problems(text) == [
        (2, "noMaster: only distributed trainings have it; leave it out"),
        (5, "numWorkers: only distributed trainings have it; leave it out"),
    ]


@given(TEXTS, TEXTS, TEXTS)
def test_whatever_was_typed_survives_yaml(one: str, two: str, three: str) -> None:
    draft = WorkloadDraft(
        name=one,
        framework=two,
        architecture=two,
        worker=ReplicaDraft(values={"command": three, "labels": [{"name": one, "value": two}]}),
        values={"numWorkers": three},
    )
    assert parse_draft_yaml(write_draft_yaml(draft, Names()), BLANK, Names()) == draft


def test_choices_places_and_half_filled_lists_survive_yaml() -> None:
    environment = uuid4()
    compute = uuid4()
    draft = WorkloadDraft(
        name="train",
        cluster=uuid4(),
        project=7,
        template=uuid4(),
        architecture="workers_only",
        worker=ReplicaDraft(
            assets={"environment": environment, "compute": compute},
            values={"labels": [{"name": "", "value": ""}], "command": ""},
        ),
        master=ReplicaDraft(),
        values={"nodePools": [""], "minReplicas": None},
    )
    assert parse_draft_yaml(write_draft_yaml(draft, Names()), BLANK, Names()) == draft


def test_assets_stand_in_the_text_by_name() -> None:
    pk = uuid4()
    ids = {("environment", "pytorch-dt"): pk}
    names = Names(lambda kind, its: "pytorch-dt", lambda kind, name: ids.get((kind, name)))
    draft = WorkloadDraft(worker=ReplicaDraft(assets={"environment": pk}))
    text = write_draft_yaml(draft, names)
    assert "environment: pytorch-dt" in text
    assert parse_draft_yaml(text, BLANK, names) == draft
    with pytest.raises(YamlError, match="line 2: 'other' is the name of no environment"):
        parse_draft_yaml("assets:\n  environment: other\n", BLANK, names)


def test_roles_have_assets_by_name_tools_and_secrets_of_their_own() -> None:
    pk = uuid4()
    ids = {("environment", "pytorch-dt"): pk}
    names = Names(lambda kind, its: "pytorch-dt", lambda kind, name: ids.get((kind, name)))
    variables = [{"name": "TOKEN", "value": "one"}]
    roles = [
        {"name": "master", "leads": True, "command": "true", "environmentVariables": variables},
        {"name": "ps", "count": 2, "assets": {"environment": str(pk)}},
    ]
    draft = WorkloadDraft(framework="", values={"roles": roles})
    text = write_draft_yaml(draft, names)
    assert "distributedFramework" not in text
    assert "environment: pytorch-dt" in text
    assert "value: one" not in text
    assert parse_draft_yaml(text, draft, names) == draft
    assert [role.assets for role in draft.roles] == [{}, {"environment": pk}]

    in_spec = "spec:\n  roles:\n  - name: a\n    {}\n"
    tool = "ports: [{container: 8080, toolType: custom}]"
    reader = parse_draft_yaml(in_spec.format(tool), BLANK, names)
    assert reader.roles[0].values["connections"][0]["containerPort"] == 8080
    for line, message in {
        "comand: x": "comand is not a known field; did you mean command?",
        "count: [1]": "count must be a single value",
        "assets: {environment: other}": "'other' is the name of no environment",
        "assets: [1]": "assets must name an asset for each kind, such as environment",
    }.items():
        with pytest.raises(YamlError, match=f"line 4: {re.escape(message)}"):
            parse_draft_yaml(in_spec.format(line), BLANK, names)
    with pytest.raises(YamlError, match="line 1: roles belongs below spec; indent it"):
        parse_draft_yaml("roles: []\n", BLANK, names)


def test_values_that_look_secret_are_masked_and_kept() -> None:
    variables = [{"name": "TOKEN", "value": "one"}, {"name": "TOKEN", "value": "two"}]
    draft = WorkloadDraft(
        worker=ReplicaDraft(values={"environmentVariables": variables}),
        master=ReplicaDraft(values={"environmentVariables": [{"name": "A_SECRET", "value": "s"}]}),
    )
    text = write_draft_yaml(draft, Names())
    assert "one" not in text
    assert text.count(MASK) == 3
    assert parse_draft_yaml(text, draft, Names()) == draft
    elsewhere = parse_draft_yaml(text, BLANK, Names()).worker.values["environmentVariables"]
    assert [it["value"] for it in elsewhere] == [MASK, MASK], "the plan asks for the value"


def test_the_body_of_a_request_fills_the_form() -> None:
    cluster = uuid4()
    draft = parse_draft_yaml(
        f"name: a\nprojectId: 3\nclusterId: {cluster}\nmasterSpecSameAsWorker: true\nspec:\n"
        "  distributedFramework: MPI\n  image: x\n  numWorkers: 2\n"
        "  exposedUrls: [{container: 8888, toolName: lab}]\n",
        BLANK,
        Names(),
    )
    assert (draft.project, draft.cluster, draft.framework) == (3, cluster, "MPI")
    assert draft.master is None
    (tool,) = draft.worker.values["connections"]
    assert (tool["name"], tool["containerPort"]) == ("lab", 8888)


def test_name_and_place_stay_where_the_text_has_none() -> None:
    base = WorkloadDraft(name="train", cluster=UUID(int=1), project=4, values={"numWorkers": 9})
    draft = parse_draft_yaml("spec: {image: x}", base, Names())
    assert (draft.name, draft.cluster, draft.project) == ("train", UUID(int=1), 4)
    assert draft.values == {}, "the rest is what the text says"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("spec:\n  numWorker: 3", 2, "numWorker is not a known field; did you mean numWorkers?"),
        ("nam: x", 1, "nam is not a known field; did you mean name?"),
        ("name: a\nnumWorkers: 3", 2, "numWorkers belongs below spec; indent it"),
        ("masterSpec:\n  numWorkers: 3", 2, "numWorkers is not a known field"),
        ("spec:\n  labels: x", 2, "labels must be a list"),
        ("spec:\n  labels:\n  - nam: x", 3, "nam is not a known field; did you mean name?"),
        ("spec:\n  labels:\n  - x", 3, "labels must have fields of its own"),
        ("spec:\n  command: [a]", 2, "command must be a single value"),
        ("spec:\n  storage:\n    pvc:\n    - paths: /x", 4, "paths is not a known field"),
        ("spec: 3", 1, "spec must have fields of its own"),
        ("spec:\n  ports: 3", 2, "ports must be a list"),
        ("spec:\n  ports:\n  - containers: 1", 3, "containers is not a known field"),
        ("projectId: team-a", 1, "'team-a' is not the ID of a project"),
        ("clusterId: x", 1, "'x' is not the ID of a cluster"),
        ("noMaster: 1.5", 1, "noMaster must be true or false"),
        ("masterSpecSameAsWorker: true\nmasterSpec: {}", 2, "leave masterSpec out"),
        ("assets: [x]", 1, "assets must name an asset for each kind"),
        ("name: 3", 1, "name must be text"),
        ("useGivenNameAsPrefix: true", 1, "useGivenNameAsPrefix is not a known field"),
    ],
)
def test_a_key_without_a_place_is_named_at_its_line(text: str, line: int, message: str) -> None:
    ((at, words),) = problems(text)
    assert at == line
    assert words.startswith(message)


def test_all_unknown_keys_are_named_at_once() -> None:
    assert [line for line, _ in problems("a: 1\nspec:\n  b: 2\n  labels:\n  - c: 3\n")] == [1, 3, 5]
