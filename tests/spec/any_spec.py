"""Generates valid specs of every shape, with every field of every part, and odd texts.

They are derived from the models, so a new field is included as soon as it exists.
"""

import types
from enum import Enum
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin
from uuid import UUID

from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter, ValidationError, create_model

from spec.draft import ReplicaDraft, WorkloadDraft
from spec.formats import documents
from spec.framework import Framework, framework_with
from spec.kind import GANG_FIELDS
from spec.parts.environment import ToolConnection
from spec.workload import NamedRole, Replica, WorkloadSpec

Values = dict[str, Any]
#: Texts that YAML, a browser or a shell could misread, and one for each rule.
TEXTS = (
    *"yes no null ~ 1 1.5 0x10 1e3 012 .inf 2026-01-01 22:30 true <<".split(),
    *("a: b", "# c", "- x", "'q'", '"q"', "é☃ 𝄞", "two\nlines", "a\ttab", "&a *b", "!x", "@", "`"),
    *("{a}", "[b]", "%d", "a\u2028b\x85c", "\\n", "a" * 63, "word " * 40 + "end", "|", ">", "---"),
    *"data alpine:3.20 /data /data/more nfs.example.com example.com/gpu-type".split(),
    *("https://example.com/x.git", "git@host:a/b", "0, 1,2", "0644", "10G", "1Gi", "python -m x"),
    "#!/bin/bash\n#SBATCH --ntasks=2\n\nsrun hostname\n",
    *("jupyter-notebook", "IPC_LOCK", "NAME", "WANDB_API_KEY", "conf/train.yaml", "main"),
)
#: Fields that nearly all values of a model need, although the model does not require them.
NEEDED: dict[type[BaseModel], tuple[str, ...]] = {
    ToolConnection: ("container_port",),
    NamedRole: ("image",),
}
NUMBERS = (0, 1, 2, 3, 30, 100, 300, 8888, 30001, 0.1, 0.5, 1.0, 2.5)


def valid(annotation: Any, value: Any) -> bool:
    """Whether a value is valid for a type."""
    try:
        TypeAdapter(annotation).validate_python(value)
    except ValidationError:
        return False
    return True


@cache
def values_of(annotation: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for valid values of a type in JSON."""
    bare = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    if isinstance(bare, type) and issubclass(bare, BaseModel):
        return documents_of(bare)
    if isinstance(bare, type) and issubclass(bare, Enum):
        return st.sampled_from([member.value for member in bare])
    if get_origin(bare) in {Union, types.UnionType}:
        return st.one_of([values_of(it) for it in get_args(bare) if it is not type(None)])
    if get_origin(bare) is tuple and get_args(bare)[0] is NamedRole:
        some = st.lists(documents_of(NamedRole), min_size=1, max_size=2)
        return some.map(one_leads)
    if get_origin(bare) is tuple:
        some = st.lists(values_of(get_args(bare)[0]), max_size=2)
        return some.filter(lambda items: valid(annotation, items))
    if bare is UUID:
        return st.uuids().map(str)
    if bare is bool:
        return st.booleans()
    choices = [it for it in (*TEXTS, *NUMBERS) if valid(annotation, it)]
    return st.sampled_from([it for it in choices if isinstance(it, str) == (bare is str)])


def one_leads(roles: list[Values]) -> list[Values]:
    """Return roles of a gang: each with a name of its own, and the first one leads. Few random ones
    are."""
    lead, *others = (role | {"name": f"role-{number}"} for number, role in enumerate(roles))
    rest = [role | {"leads": False} for role in others]
    return [lead | {"leads": True, "count": 1}, *rest]


@cache
def documents_of(model: type[BaseModel]) -> st.SearchStrategy[Values]:
    """Return a strategy for documents of a model: its required fields, and a few others."""
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for name, field in model.model_fields.items():
        if field.exclude:  # only in requests: resolved before a spec is stored
            continue
        annotation: Any = field.annotation
        if field.metadata:
            annotation = Annotated[(annotation, *field.metadata)]
        needed = field.is_required() or name in NEEDED.get(model, ())
        holder = required if needed else optional
        holder[field.alias or name] = values_of(annotation)

    @st.composite
    def one(draw: st.DrawFn) -> Values:
        whole = {name: draw(strategy) for name, strategy in required.items()}
        names = draw(st.sets(st.sampled_from(sorted(optional)), max_size=4)) if optional else ()
        for name in sorted(names):
            more = whole | {name: draw(optional[name])}
            whole = more if valid(model, more) else whole
        return whole

    return one().filter(lambda document: valid(model, document))


def draft_of(spec: WorkloadSpec) -> WorkloadDraft:
    """Return a draft with all values of a spec, each entered by hand."""
    document = documents.dump_spec(spec)
    worker = document.pop("worker", {})
    master = document.pop("master", None)
    return WorkloadDraft(
        name="train",
        kind=document.pop("kind"),
        framework=document.pop("distributedFramework", "PyTorch") or "",
        architecture=document.pop("architecture", "workers_and_master"),
        worker=ReplicaDraft(values=worker),
        master=None if master is None else ReplicaDraft(values=master),
        values=document,
    )


#: A spec with several pods: a master and workers, which need a framework, or named roles.
Gang = create_model(
    "Gang",
    __base__=WorkloadSpec,
    distributed_framework=(Framework, ...),
    worker=(Replica, ...),
)
GangOfRoles = create_model(
    "GangOfRoles",
    __base__=WorkloadSpec,
    roles=(Annotated[tuple[NamedRole, ...], Field(min_length=1)], ...),
)


def one_pod(gang: Values, kind: str) -> Values:
    """Return the document of a workload with one pod, with the values that it shares with the
    gang's."""
    own = {
        key: it for key, it in gang.items() if key not in GANG_FIELDS and not framework_with(key)
    }
    return own | {"kind": kind}


def specs() -> st.SearchStrategy[WorkloadSpec]:
    """Return a strategy for specs of all kinds."""
    gangs = documents_of(Gang)
    alone = st.builds(one_pod, gangs, st.sampled_from(["training", "workspace"]))
    return (gangs | alone | documents_of(GangOfRoles)).map(WorkloadSpec.model_validate)
