"""What is compared: workloads or runs of them, as the address names them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.http import QueryDict
from django.urls import reverse

from accounts.models import User
from core.web.query import parse_number, parse_uuid
from workloads.metrics.series import MetricSource
from workloads.models import Workload

FEWEST = 2
MOST = 8
LONGEST_ID = 100  # characters of what an address may name and a page repeats


@dataclass(frozen=True)
class Subject:
    """A workload that is compared, or one run of it. ``number`` decides its color and dashes."""

    workload: Workload
    run: int | None
    number: int

    @property
    def source(self) -> MetricSource:
        return MetricSource(self.workload.pk, self.run)

    @property
    def key(self) -> str:
        """What the address names it by."""
        return _key(self.workload.pk, self.run)

    @property
    def label(self) -> str:
        return f"{self.workload.name}, run {self.run}" if self.run else self.workload.name

    @property
    def address(self) -> str:
        address = reverse("workload-metrics", args=[self.workload.pk])
        return f"{address}?run={self.run}" if self.run else address


@dataclass(frozen=True)
class Selection:
    """What an address names: the subjects, what is not there or not visible to the reader, and what
    is more than can be compared."""

    subjects: Sequence[Subject]
    missing: Sequence[str] = ()
    excess: int = 0

    @property
    def is_enough(self) -> bool:
        return len(self.subjects) >= FEWEST

    @property
    def labels(self) -> list[str]:
        """Labels that differ: workloads of two projects may have one name."""
        labels = [it.label for it in self.subjects]
        return [
            f"{it.label} ({it.workload.project.name})" if labels.count(it.label) > 1 else it.label
            for it in self.subjects
        ]

    @property
    def sources(self) -> list[MetricSource]:
        return [it.source for it in self.subjects]

    @property
    def query(self) -> str:
        return ids_query(it.key for it in self.subjects)

    def without(self, subject: Subject) -> str:
        """Return the query for the others."""
        return ids_query(it.key for it in self.subjects if it is not subject)


def select_subjects(query: QueryDict, user: User) -> Selection:
    """Return what ``ids`` names: ids of workloads, or ``<id>:<run>``. It takes one query, however
    many there are."""
    texts = [text.strip() for part in query.getlist("ids") for text in part.split(",")]
    names = list(dict.fromkeys(text[:LONGEST_ID] for text in texts if text))
    parsed = {text: _parse_name(text) for text in names}
    ids = [name[0] for name in list(parsed.values()) if name][: 2 * MOST]
    visible = Workload.objects.within_reach(user).for_list().filter(pk__in=ids)
    workloads = {workload.pk: workload for workload in visible}
    found: dict[str, tuple[Workload, int | None]] = {}
    missing: list[str] = []
    for text, name in parsed.items():
        workload = workloads.get(name[0]) if name else None
        run = name[1] if name else None
        if workload is None or (run is not None and not 1 <= run <= workload.run):
            missing.append(text)
        else:
            found.setdefault(_key(workload.pk, run), (workload, run))
    subjects = [
        Subject(workload, run, number)
        for number, (workload, run) in enumerate(list(found.values())[:MOST])
    ]
    return Selection(subjects, missing[:MOST], max(len(found) - MOST, 0))


def compare_address(keys: Iterable[str]) -> str:
    return f"{reverse('workload-compare')}?{ids_query(keys)}"


def runs_address(workload: Workload) -> str:
    """Return the address that compares the last runs of one workload."""
    first = max(workload.run - MOST, 0) + 1
    return compare_address(_key(workload.pk, run) for run in range(first, workload.run + 1))


def ids_query(keys: Iterable[str]) -> str:
    return f"ids={','.join(keys)}"


def _key(workload: UUID, run: int | None) -> str:
    return f"{workload}:{run}" if run else str(workload)


def _parse_name(text: str) -> tuple[UUID, int | None] | None:
    workload, colon, run_text = text.partition(":")
    pk = parse_uuid(workload)
    run = parse_number(run_text)
    if pk is None or (colon and not run):
        return None
    return pk, run
