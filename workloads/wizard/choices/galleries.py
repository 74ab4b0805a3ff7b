"""Build the cards of a wizard page: clusters, projects, frameworks, templates and assets."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.db.models import QuerySet

from accounts.models import User
from assets.asset import Asset
from assets.base import AssetCard, AssetKind, Fact
from assets.gallery.cards import asset_cards
from assets.kinds import KINDS
from clusters.models import Cluster, State
from clusters.withheld import why_architecture_withheld
from core.forms.words import field_sentence
from policies.models import find_rules
from projects.models import Project
from projects.quotas import Demand, StrictQuota, strict_quotas_of, total_quota, usage_of
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.framework import Framework
from spec.kind import kinds_of_wizard
from spec.problems.rulings import FieldRuling
from spec.workload import Architecture
from workloads.plan import Plan
from workloads.wizard.choices.policies import (
    Violation,
    find_asset_violations,
    find_template_violations,
    refusal_of,
)
from workloads.wizard.sections.base import OWN_VALUES

FEW_CARDS = 6  # cards shown before "show all" is clicked
MOST_ON_SETUP = 50  # the same on the first page, whose lists scroll
SCRATCH = ""
SCOPE_COLUMNS = ("cluster", "department", "project")


@dataclass(frozen=True)
class Card:
    """A choice. ``why_not`` says why it cannot be made, and is empty if it can. ``facts`` are
    triples of icon, name and value, ``chips`` pairs of text and tone. ``violations`` are the rules
    of policies that rule the choice out. ``meter`` has the GPUs in
    use, the quota, and a text about the free GPUs."""

    value: str
    title: str
    text: str = ""
    icon: str = "box"
    facts: tuple[tuple[str, str, str], ...] = ()
    chips: tuple[tuple[str, str], ...] = ()
    why_not: str = ""
    violations: tuple[Violation, ...] = ()
    checked: bool = False
    meter: tuple[float, float, str] | None = None

    @property
    def key(self) -> str:
        """The value as part of an HTML id."""
        return self.value or "none"

    def matches(self, words: str) -> bool:
        """Return whether every word occurs in the card's title, text or facts, in any case."""
        all_text = " ".join([self.title, self.text, *(value for _, _, value in self.facts)]).lower()
        return all(word in all_text for word in words.lower().split())


@dataclass(frozen=True)
class Gallery:
    """The cards to show out of ``total``; the chosen one is always among them. ``hidden`` counts
    those that match the query but are not shown."""

    cards: list[Card] = field(default_factory=list)
    total: int = 0
    query: str = ""
    hidden: int = 0


def build_gallery(
    choices: Iterable[Card], *, query: str = "", everything: bool = False, few: int = FEW_CARDS
) -> Gallery:
    """Build a gallery of the cards that match ``query``: usable ones and matches in the title
    first, and no more than ``few`` unless ``everything`` is asked for."""
    all_cards = sorted(choices, key=lambda card: bool(card.why_not))
    matches = [card for card in all_cards if card.matches(query)] if query else all_cards
    matches.sort(key=lambda card: query.lower() not in card.title.lower())
    visible = matches if everything else matches[:few]
    chosen = [card for card in all_cards if card.checked and card not in visible]
    hidden = sum(card not in visible and card not in chosen for card in matches)
    return Gallery(chosen + visible, len(all_cards), query, hidden)


def cluster_cards(user: User, chosen: Any) -> Iterator[Card]:
    """Yield the clusters that the user sees, connected ones first."""
    visible = Cluster.objects.visible_to(user)
    for cluster in sorted(visible, key=lambda it: it.state != State.CONNECTED):
        tone = "success" if cluster.state == State.CONNECTED else "warning"
        yield Card(
            str(cluster.pk),
            cluster.name,
            icon="server-2",
            facts=(("cpu", "GPUs", _gpu_text(cluster)),),
            chips=((cluster.get_state_display(), tone),),
            checked=cluster.pk == chosen,
        )


def _gpu_text(cluster: Cluster) -> str:
    count = cluster.gpu_count
    if cluster.has_virtual_gpus:
        return f"{count} virtual GPU{'' if count == 1 else 's'}"
    return f"{count} GPU{'' if count == 1 else 's'}"


def project_cards(user: User, cluster: Any, chosen: Any) -> Iterator[Card]:
    """Yield the user's projects in a cluster, each with the free part of its quota."""
    rows = list(_visible_projects(user).filter(cluster=cluster))
    usage = usage_of(rows)
    accounts = strict_quotas_of(rows)
    for project in rows:
        demand = usage[project.pk].demand
        yield Card(
            str(project.pk),
            project.name,
            project.description,
            icon="folder",
            facts=(("building", "Department", _department_text(project, accounts[project.pk])),),
            chips=(("May go over quota", "neutral"),) if project.over_quota else (),
            checked=project.pk == chosen,
            meter=_quota_meter(project, demand),
        )


def _visible_projects(user: User) -> QuerySet[Project]:
    return Project.objects.visible_to(user).for_list()


def _department_text(project: Project, accounts: list[StrictQuota]) -> str:
    """Return the department's name. If its quota is a hard limit, the text continues with the free
    part of it, which may be less than that of the project's own quota."""
    for account in accounts:
        if account.kind == "department":
            return f"{project.department}, {_free_text(project, account.usage, account.quota.gpus)}"
    return project.department.name


def _quota_meter(project: Project, demand: Demand) -> tuple[float, float, str]:
    quota = total_quota(project).gpus or 0.0
    return demand.gpus, quota, _free_text(project, demand, quota)


def _free_text(project: Project, demand: Demand, quota: float | None) -> str:
    if quota is None:
        return "no limit"
    noun = "virtual GPUs" if project.cluster.has_virtual_gpus else "GPUs"
    free = max(round(quota - demand.gpus, 3), 0)
    return f"{free:g} of {quota:g} {noun} free"


def kind_cards(draft: WorkloadDraft) -> list[Card]:
    """Return the workload kinds to choose from, such as standard and distributed for a training.
    There are no cards for a single kind."""
    cards = [
        Card(kind.value, kind.traits.choice, kind.traits.text, checked=kind.value == draft.kind)
        for kind in reversed(kinds_of_wizard(draft.traits.noun))
    ]
    return cards if len(cards) > 1 else []


def framework_cards(
    cluster: Cluster | None, chosen: str, ruling: FieldRuling | None = None
) -> Iterator[Card]:
    """Yield the frameworks. Those that the cluster cannot start, and those that the policies of the
    project do not allow, say why."""
    allowed = {option.value for option in ruling.options} if ruling else set()
    for framework in Framework:
        support = cluster.capabilities.framework(framework) if cluster else None
        why_not = support.why if support and not support.available else ""
        if ruling and allowed and framework.value not in allowed:
            why_not = why_not or f"Not allowed by {ruling.source}."
        yield Card(
            framework.value,
            framework.label,
            why_not=why_not,
            checked=framework.value == chosen,
        )


def architecture_cards(cluster: Cluster | None, framework: str, chosen: str) -> Iterator[Card]:
    """Yield the architectures. Those that the framework does not have on the cluster say why."""
    words = {
        Architecture.WORKERS_AND_MASTER: "The master is rank 0.",
        Architecture.WORKERS_ONLY: "Worker 0 is rank 0.",
    }
    for architecture in Architecture:
        yield Card(
            architecture.value,
            architecture.label,
            words[architecture],
            why_not=_why_no_architecture(cluster, framework, architecture),
            checked=architecture.value == chosen,
        )


def _why_no_architecture(
    cluster: Cluster | None, framework: str, architecture: Architecture
) -> str:
    if cluster is None or framework not in list(Framework):
        return ""
    reason = why_architecture_withheld(cluster, Framework(framework), architecture)
    return field_sentence(reason) if reason else ""


def template_cards(user: User, project: Project | None, draft: WorkloadDraft) -> Iterator[Card]:
    """Yield the project's templates for what the draft creates: a workspace cannot start from the
    template of a training. Those that the policies of the project rule out say why."""
    text = "Fill in all pages yourself."
    yield Card(SCRATCH, "Start from scratch", text, icon="file", checked=not draft.template)
    if project is not None:
        kind = KINDS["template"]
        rules_of_kinds = cache(find_rules)
        for template, card in _usable_assets(kind, user, project):
            if template.draft.traits.noun != draft.traits.noun:
                continue
            violations = find_template_violations(template, project, user, rules_of_kinds)
            yield _asset_card(
                template,
                card,
                kind.icon,
                template.pk == draft.template,
                why_not=card.why_not or refusal_of(violations),
                violations=violations,
            )


def replica_asset_cards(
    kind: AssetKind[Any], plan: Plan, project: Project, replica: ReplicaDraft, role: str
) -> list[Card]:
    """Return every asset of the project, the most likely choice for such a workload first. Assets
    for another framework, and those that policies rule out, say so in ``why_not``."""
    draft = plan.draft
    chosen = replica.assets.get(kind.slug)
    framework = draft.framework_of_gang

    def distance(pair: tuple[Any, AssetCard]) -> int:
        return kind.distance(pair[0], draft.traits, framework)

    cards = []
    for asset, card in sorted(_usable_assets(kind, plan.by, project), key=distance):
        violations = find_asset_violations(plan, kind, asset, role)
        why_unfit = card.why_not or _capitalize(kind.why_unfit(asset, framework))
        cards.append(
            _asset_card(
                asset,
                card,
                kind.icon,
                asset.pk == chosen,
                why_not=why_unfit or refusal_of(violations),
                violations=violations,
            )
        )
    facts = kind.copied_facts(replica.values)
    if facts and not chosen:
        cards.insert(0, _own_values_card(kind.icon, facts))
    return cards


def _usable_assets(
    kind: AssetKind[Any], user: User, project: Project
) -> Iterable[tuple[Any, AssetCard]]:
    rows = list(kind.rows.visible_to(user).usable_in(project).select_related(*SCOPE_COLUMNS))
    return zip(rows, asset_cards(kind, rows, project.cluster), strict=True)


def _asset_card(
    asset: Asset,
    card: AssetCard,
    icon: str,
    checked: bool,
    *,
    why_not: str = "",
    violations: tuple[Violation, ...] = (),
) -> Card:
    return Card(
        str(asset.pk),
        asset.name,
        asset.description,
        icon=icon,
        facts=tuple(card.facts),
        chips=(*card.chips, (asset.scope_name, "neutral")),
        why_not=why_not,
        violations=violations,
        checked=checked,
    )


def _own_values_card(icon: str, facts: list[Fact]) -> Card:
    """Return the card for the draft's own values, with ``facts`` about them, if it has values but
    no asset."""
    text = "Of the copied workload, or set by a suggestion of the summary; not an asset."
    return Card(
        OWN_VALUES, "This workload's own values", text, icon=icon, facts=tuple(facts), checked=True
    )


def _capitalize(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"
