"""What differs between the specs of compared workloads, field by field.

Items of lists are told apart by their names, not by their places, and the arguments of a command by
its flags, so that one other flag is one row.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.models import User
from assets.base import AssetKind
from assets.kinds import KINDS
from assets.models import AssetVersion
from spec.formats import documents
from spec.formats.merge import KEYS
from workloads.compare.subjects import Selection
from workloads.models import Workload, WorkloadAsset

COMMAND_LINES = frozenset({"command", "args"})
WITHOUT_A_FLAG = "argument"
#: What differs between any two workloads.
OF_EACH = frozenset({"name"})


@dataclass(frozen=True)
class FieldRow:
    """A field with its value in each workload, as text; empty where it is not set."""

    path: str
    texts: Sequence[str]

    @property
    def differs(self) -> bool:
        return len(set(self.texts)) > 1


def compare_specs(selection: Selection) -> list[FieldRow]:
    """Return a row for each field that is not the default everywhere, in the order of the spec."""
    columns = [field_texts(it.workload) for it in selection.subjects]
    return _join_columns(columns)


def compare_assets(selection: Selection, user: User) -> list[FieldRow]:
    """Return a row for each kind of asset, with the names and versions that were submitted."""
    columns = asset_texts([it.workload for it in selection.subjects], user)
    return _join_columns(columns)


def _join_columns(columns: Sequence[Mapping[str, str]]) -> list[FieldRow]:
    paths = dict.fromkeys(path for column in columns for path in column)
    return [FieldRow(path, [column.get(path, "") for column in columns]) for path in paths]


def field_texts(workload: Workload) -> dict[str, str]:
    """Return the fields of a spec by path, with the values that look secret masked."""
    document = documents.order_keys(workload.spec_json)
    shown = documents.mask_secret_values(documents.without_defaults(document))
    texts = {
        "project": workload.project.name,
        "cluster": workload.cluster.name,
    }
    fields = {key: value for key, value in shown.items() if key not in OF_EACH}
    return texts | dict(_flatten(fields, ""))


def _flatten(value: Any, path: str) -> Iterator[tuple[str, str]]:
    key = path.rpartition(".")[2]
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _flatten(item, f"{path}.{name}" if path else name)
    elif key in COMMAND_LINES and isinstance(value, str):
        for flag, text in split_arguments(value).items():
            yield f"{path} {flag}", text
    elif isinstance(value, list):
        yield from _flatten_list(value, path)
    else:
        yield path, _value_text(value)


def _flatten_list(items: Sequence[Any], path: str) -> Iterator[tuple[str, str]]:
    names = _item_keys(path)
    for number, item in enumerate(items):
        label = next((str(item[it]) for it in names if item.get(it)), "") if names else ""
        if label and item.keys() == {"name", "value"}:
            yield f"{path} {label}", _value_text(item["value"])
        elif isinstance(item, dict):
            yield from _flatten(item, f"{path} {label}" if label else f"{path}[{number}]")
        else:
            yield f"{path}[{number}]", _value_text(item)


def _item_keys(path: str) -> tuple[str, ...]:
    """Return the fields that name the items of the list at this path, which may be that of a
    pod."""
    for known, names in KEYS.items():
        if path == known or path.endswith(f".{known}"):
            return names
    return ()


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def split_arguments(line: str) -> dict[str, str]:
    """Return the flags of a command line with their values; words without a flag are numbered.

    ``train.py --lr 1e-3 --amp -x=2`` has ``argument 1``, ``--lr``, ``--amp`` and ``-x``. A flag
    that is repeated has all of its values. A line that no shell would accept is one argument.
    """
    try:
        words = shlex.split(line)
    except ValueError:
        return {f"{WITHOUT_A_FLAG} 1": line}
    values: dict[str, list[str]] = defaultdict(list)
    flag = ""
    plain = 0
    for word in words:
        if _is_flag(word):
            flag, equals, text = word.partition("=")
            values[flag] += [text] if equals else []
            flag = "" if equals else flag
        elif flag:
            values[flag].append(word)
            flag = ""
        else:
            plain += 1
            values[f"{WITHOUT_A_FLAG} {plain}"].append(word)
    return {name: ", ".join(texts) or "set" for name, texts in values.items()}


def _is_flag(word: str) -> bool:
    """Whether a word begins a flag. A negative number is a value."""
    return word.startswith("-") and word.strip("-") != "" and not word[1:2].isdigit()


def asset_texts(workloads: Sequence[Workload], user: User) -> list[dict[str, str]]:
    """Return, for each workload, the assets it was made with by kind and role. It takes one query
    for the links, one for the versions, and one a kind for names that ``user`` may see."""
    links = WorkloadAsset.objects.filter(workload__in=workloads).order_by("kind", "role", "pk")
    rows = list(links.values_list("workload", "kind", "role", "asset_id"))
    names = _visible_names(((kind, pk) for _, kind, _, pk in rows), user)
    versions = _version_times(pk for _, _, _, pk in rows)
    texts: dict[UUID, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    submitted = {workload.pk: workload.created_at for workload in workloads}
    for holder, kind, role, pk in rows:
        noun = KINDS[kind].noun if kind in KINDS else kind
        label = f"{noun} ({role})" if role else noun
        name = names.get(pk, f"deleted or not visible to you ({str(pk)[:8]})")
        number = _version_at(versions.get(pk, ()), submitted[holder])
        texts[holder][label].append(f"{name}, version {number}" if number else name)
    return [
        {label: "; ".join(named) for label, named in texts[workload.pk].items()}
        for workload in workloads
    ]


def _visible_names(assets: Iterable[tuple[str, UUID]], user: User) -> dict[UUID, str]:
    by_kind: dict[str, set[UUID]] = defaultdict(set)
    for kind, pk in assets:
        by_kind[kind].add(pk)
    names: dict[UUID, str] = {}
    for kind, ids in by_kind.items():
        if kind in KINDS:
            asset_kind: AssetKind[Any] = KINDS[kind]
            visible = asset_kind.rows.visible_to(user).filter(pk__in=ids)
            names |= dict(visible.values_list("pk", "name"))
    return names


def _version_times(assets: Iterable[UUID]) -> dict[UUID, list[tuple[datetime, int]]]:
    """Return when each version of the assets was stored, oldest first."""
    times: dict[UUID, list[tuple[datetime, int]]] = defaultdict(list)
    rows = AssetVersion.objects.filter(asset_id__in=set(assets)).order_by("number")
    for pk, at, number in rows.values_list("asset_id", "at", "number"):
        times[pk].append((at, number))
    return times


def _version_at(versions: Iterable[tuple[datetime, int]], moment: datetime) -> int | None:
    """Return the version that was the present one at a moment; ``None`` if there was none yet."""
    stored = [number for at, number in versions if at <= moment]
    return stored[-1] if stored else None
