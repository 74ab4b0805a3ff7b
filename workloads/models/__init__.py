"""The workload with its attempts, ranks, events, causes and samples; drafts and saved views."""

from workloads.models.asset import WorkloadAsset
from workloads.models.attempt import Attempt
from workloads.models.cause import CausePeriod
from workloads.models.choices import Source
from workloads.models.decision import AdmissionDecision, DecisionQuerySet
from workloads.models.dismissal import Dismissal
from workloads.models.draft import Draft
from workloads.models.event import Event
from workloads.models.queries import WorkloadQuerySet
from workloads.models.rank import Rank
from workloads.models.sample import Sample, SampleKind
from workloads.models.view import SavedView
from workloads.models.workload import Workload

__all__ = [
    "AdmissionDecision",
    "Attempt",
    "CausePeriod",
    "DecisionQuerySet",
    "Dismissal",
    "Draft",
    "Event",
    "Rank",
    "Sample",
    "SampleKind",
    "SavedView",
    "Source",
    "Workload",
    "WorkloadAsset",
    "WorkloadQuerySet",
]
