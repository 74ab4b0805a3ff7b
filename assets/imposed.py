"""Check the data sources that a policy imposes: each must be usable in its whole scope. A saved
policy gets its links to them."""

from collections.abc import Iterable, Iterator
from typing import Any

from assets.credential.kind import CREDENTIAL
from assets.kinds import IMPOSED_KIND
from assets.policy_links import PolicyAsset, find_references
from policies.fields import role_and_name
from policies.models import Policy
from policies.rules import Enforcement, Rule, split_item
from policies.saving import after_save, rules_read
from policies.tree import IMPOSED_ASSETS
from projects.scopes import OwningScope
from spec.kind import WorkloadKind
from spec.problems.errors import Problem


def find_problems(
    rules: Iterable[Rule], *, scope: OwningScope, kind: WorkloadKind
) -> Iterator[Problem]:
    """Yield a problem, with its path in the tree, for each data source that the policy of a scope
    cannot impose. One that names a credential is refused, because not everyone may use that."""
    numbers: dict[str, int] = {}
    for rule in rules:
        if rule.enforcement is not Enforcement.IMPOSED:
            continue
        role, name = role_and_name(rule.field)
        number = numbers.get(role, 0)
        numbers[role] = number + 1
        path = (IMPOSED_ASSETS, *((role,) if kind.is_gang else ()), number)
        asset_id = split_item(name)[1] or ""
        asset = IMPOSED_KIND.rows.usable_at(scope).filter(pk=asset_id).first()
        if asset is None:
            yield Problem(path, f"is not a data source that all of {scope} can use")
        elif fault := IMPOSED_KIND.fault_of(asset):
            yield Problem(path, f"{asset.name} is no longer valid: {fault}")
        elif any(IMPOSED_KIND.references(asset)):
            yield Problem(path, f"{asset.name} names a credential, so it cannot be imposed")


def add_problems(
    rules: Iterable[Rule],
    scope: OwningScope,
    kind: WorkloadKind,
    problems: list[Problem],
    **_: Any,
) -> None:
    problems += find_problems(rules, scope=scope, kind=kind)


def link_assets(policy: Policy, **_: Any) -> None:
    """Replace the links of a policy by those of its rules.

    The IDs of credentials come from the author of the policy, so a new link is made only to one
    that the author may see: it keeps the credential from being deleted.
    """
    old_links = PolicyAsset.objects.filter(policy=policy)
    linked = set(old_links.values_list("asset_id", flat=True))
    visible = CREDENTIAL.rows.visible_to(policy.updated_by) if policy.updated_by else None
    references = [
        (role, kind, pk)
        for role, kind, pk in find_references(policy.rules)
        if kind == IMPOSED_KIND.slug
        or pk in linked
        or (visible is not None and visible.filter(pk=pk).exists())
    ]
    old_links.delete()
    PolicyAsset.objects.bulk_create(PolicyAsset.build_links(policy, references))


def connect() -> None:
    rules_read.connect(add_problems, dispatch_uid="imposed data sources")
    after_save.connect(link_assets, dispatch_uid="links of a policy")
