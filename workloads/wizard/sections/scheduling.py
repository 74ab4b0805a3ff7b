"""Section: where pods may run and with which priority, as in ``spec.scheduling``."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from clusters.connections import runs_as
from clusters.withheld import why_form_withheld
from core.forms.field import Cell, Input, Option
from core.forms.shown import ShownField
from core.forms.words import field_sentence
from engines.base import Handle
from projects.rules import node_types_of
from spec.framework import Framework, framework_with
from spec.parts.scheduling import (
    Effect,
    Preemptibility,
    Strictness,
    Toleration,
    TolerationOperator,
)
from spec.workload import JobForm
from workloads.plan import UNSAVED, Plan
from workloads.wizard.sections.base import (
    FOLD,
    NOT_ON_CLUSTER,
    Question,
    ReviewLine,
    Section,
    reviewed_replica,
    reviewed_spec,
)

if TYPE_CHECKING:
    from workloads.wizard.choices.offers import Offer


AUTOMATIC = "Automatic"
NOT_IN_NAMESPACE = "not in the project's namespace"


def _options(first: str, *more: str) -> tuple[Option, ...]:
    return (("", first), *((value, value) for value in more))


EFFECTS = (Effect.NO_SCHEDULE, Effect.NO_EXECUTE, Effect.PREFER_NO_SCHEDULE)
TOLERATION = (
    Cell("key", "Key", required=True, placeholder="nvidia.com/gpu"),
    Cell("operator", "Operator", Input.SELECT, options=_options("Equals", "Exists")),
    Cell("value", "Value", placeholder="empty"),
    Cell("effect", "Effect", Input.SELECT, options=_options("Any", *EFFECTS)),
    Cell("seconds", "Toleration seconds", Input.WHOLE, placeholder="forever"),
)
TOPOLOGY = (
    Cell("key", "Key", required=True, placeholder="topology.kubernetes.io/zone"),
    Cell(
        "type",
        "Operator",
        Input.SELECT,
        options=tuple((str(it), str(it)) for it in Strictness),
        fills=False,
    ),
)
POOL = (
    Cell(
        "",
        "Node pool",
        Input.SELECT,
        options=(("", "Select a node pool"),),
        choices="node_pools",
        missing=NOT_ON_CLUSTER,
    ),
)


class QueueQuestion(Question):
    def add_details(self, shown: ShownField, plan: Plan, offer: "Offer") -> None:
        """Say in the first option which queue starts a workload that names none."""
        if shown.options:
            shown.options[0] = ("", _default_queue_text(plan, offer))


class JobFormQuestion(Question):
    def add_details(self, shown: ShownField, plan: Plan, offer: "Offer") -> None:
        """Offer the forms in which the cluster can run the draft, and say in the first option what
        runs it without a choice."""
        if offer.cluster is None or shown.why_not:
            return
        if plan.spec and plan.project:
            handle = Handle(UNSAVED, plan.draft.name, plan.project.name)
            unchosen = plan.spec.model_copy(update={"job_form": None})
            automatic = runs_as(offer.cluster, handle, unchosen)
            shown.options[0] = ("", f"{AUTOMATIC}: {automatic}")
        name = plan.draft.framework_of_gang
        framework = Framework(name) if name in set(Framework) else None
        for form in JobForm:
            reason = why_form_withheld(offer.cluster, framework, form)
            if reason and shown.value != form:
                shown.options.remove((form, form.label))
                shown.withheld.append((form.label, field_sentence(reason)))


class NodeTypeQuestion(Question):
    def add_details(self, shown: ShownField, plan: Plan, offer: "Offer") -> None:
        """Offer the types that a scheduling rule allows, and require one of them."""
        rule = node_types_of(plan.project, plan.draft.traits) if plan.project else None
        if rule is None:
            return
        shown.field = replace(
            shown.field,
            input=Input.SELECT,
            required=True,
            hint=f"Required by a rule of {rule.source}.",
        )
        shown.options = [("", "Select a node type"), *((name, name) for name in rule.types)]
        if shown.value and shown.value not in rule.types:
            shown.options.append((shown.value, f"{shown.value} (not allowed)"))


SEMI_ELSEWHERE = (
    "Semi-preemptible is for clusters whose KAI scheduler knows it, which this one has not."
)


class PreemptibilityQuestion(Question):
    def add_details(self, shown: ShownField, plan: Plan, offer: "Offer") -> None:
        """Offer the guarantee of a part only to gangs that can be elastic, on clusters whose
        scheduler knows it."""
        is_elastic_framework = plan.draft.framework_of_gang == framework_with("minReplicas")
        is_known = bool(offer.cluster and offer.cluster.capabilities.semi_preemptible)
        if is_elastic_framework and is_known:
            return
        semi = Preemptibility.SEMI_PREEMPTIBLE
        shown.options = [it for it in shown.options if it[0] != semi or shown.value == semi]
        if is_elastic_framework:
            shown.field = replace(shown.field, hint=f"{shown.field.hint} {SEMI_ELSEWHERE}")


def _default_queue_text(plan: Plan, offer: "Offer") -> str:
    if plan.project and plan.project.default_queue:
        return f"The project's default: {plan.project.default_queue}"
    if offer.has_kueues_default:
        return "Kueue's default: default"
    return "None"


def review(plan: Plan, role: str) -> Iterator[ReviewLine]:
    replica = reviewed_replica(plan, role)
    if replica.node_type:
        yield "Node type", replica.node_type, f"{role}.nodeType"
    if near := replica.pod_affinity:
        yield "Topology", f"{near.key} ({near.type.lower()})", f"{role}.podAffinity"
    if tolerated := ", ".join(map(_toleration_text, replica.tolerations)):
        yield "Tolerations", tolerated, f"{role}.tolerations"
    if role == "worker":
        yield from _workload_lines(plan)


def _workload_lines(plan: Plan) -> Iterator[ReviewLine]:
    spec = reviewed_spec(plan)
    if spec.node_pools:
        yield "Node pools", ", ".join(spec.node_pools), "nodePools"
    if spec.queue:
        yield "Queue", spec.queue, "queue"
    if spec.job_form:
        yield "Runs as", spec.job_form.label, "jobForm"
    if spec.priority_class:
        yield "Priority", str(spec.priority_class), "priorityClass"
    if spec.preemptibility:
        yield "Preemptibility", spec.preemptibility.label, ""
    if topology := spec.topology:
        levels = [f"{topology.required} (required)"] if topology.required else []
        levels += [f"{topology.preferred} (preferred)"] if topology.preferred else []
        yield "Network topology", f"{topology.name}: {', '.join(levels)}", ""


def _toleration_text(toleration: Toleration) -> str:
    """Return the toleration as kubectl writes it: ``key=value``, or only the key if any value is
    tolerated."""
    equal = toleration.operator is TolerationOperator.EQUAL
    return toleration.key + (f"={toleration.value or ''}" if equal else "")


SCHEDULING = Section(
    "scheduling",
    "Scheduling",
    template=FOLD,
    replica=(
        Question(
            "tolerations",
            "Tolerations",
            Input.ITEMS,
            "Node taints that the pods tolerate.",
            add="TOLERATION",
            cells=TOLERATION,
            switch="tolerations",
        ),
        Question(
            "podAffinity",
            "Topology",
            Input.ITEMS,
            "Runs the pods on nodes with the same value of the label. Required: they wait until "
            "all fit. Preferred: some may run elsewhere.",
            add="TOPOLOGY",
            cells=TOPOLOGY,
            new_item=lambda cluster: {"type": Strictness.REQUIRED.value},
            single=True,
            switch="topology",
        ),
        NodeTypeQuestion(
            "nodeType",
            "Node type",
            Input.SELECT,
            hint="Only nodes with this value of the label run.ai/type.",
            options=(("", "Any"),),
            choices="node_types",
            missing=NOT_ON_CLUSTER,
            may_be_typed=True,
        ),
    ),
    once=(
        Question(
            "nodePools",
            "Node pools",
            Input.ITEMS,
            hint="Tried in this order. Without one, the project's default is used, or any node.",
            add="NODE POOL",
            cells=POOL,
            ordered=True,
            project_default="default_node_pools",
        ),
        QueueQuestion(
            "queue",
            "Queue",
            Input.SELECT,
            hint="The LocalQueue of Kueue that starts the workload once its quota has room.",
            options=(("", "None"),),
            choices="local_queues",
            missing=NOT_IN_NAMESPACE,
            may_be_typed=True,
            only_if_supported=True,
        ),
        JobFormQuestion(
            "jobForm",
            "Runs as",
            Input.SELECT,
            hint="What runs the ranks on the cluster, and starts them together.",
            options=(("", AUTOMATIC), *((form, form.label) for form in JobForm)),
            only_if_supported=True,
        ),
        Question(
            "priorityClass",
            "Priority",
            Input.SELECT,
            hint="Order within the project: higher priorities start first.",
            options=(("", "The cluster's default"),),
            choices="priority_classes",
            missing=NOT_ON_CLUSTER,
        ),
        PreemptibilityQuestion(
            "preemptibility",
            "Preemptibility",
            Input.SELECT,
            hint="Non-preemptible workloads stay within the quota and are never preempted. Of a "
            "semi-preemptible one that holds for its minimum of workers, and the rest is elastic.",
            options=(("", "The default"), *((str(it), it.label) for it in Preemptibility)),
        ),
        Question(
            "topology.name",
            "Network topology",
            Input.SELECT,
            options=(("", "None"),),
            choices="topologies",
            missing=NOT_ON_CLUSTER,
            may_be_typed=True,
            switch="topology",
        ),
        Question(
            "topology.required",
            "Required level",
            placeholder="cloud.example.com/rack",
            switch="topology",
        ),
        Question("topology.preferred", "Preferred level", switch="topology"),
    ),
    review=review,
)
