"""Check the data sources that a policy imposes: each must be usable in its whole scope."""

from collections.abc import Iterable, Iterator

from assets.data_source.kind import DATA_SOURCE
from policies.fields import role_and_name
from policies.rules import Enforcement, Rule, split_item
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
        asset = DATA_SOURCE.rows.usable_at(scope).filter(pk=asset_id).first()
        if asset is None:
            yield Problem(path, f"is not a data source that all of {scope} can use")
        elif fault := DATA_SOURCE.fault_of(asset):
            yield Problem(path, f"{asset.name} is no longer valid: {fault}")
        elif any(DATA_SOURCE.references(asset)):
            yield Problem(path, f"{asset.name} names a credential, so it cannot be imposed")
