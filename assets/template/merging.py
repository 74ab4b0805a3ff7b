"""Merges a draft with the template that it started from."""

from typing import Any

from spec.draft import ReplicaDraft, Values, WorkloadDraft
from spec.formats.merge import USER, MergedLayers


def lay_replica_over(base: ReplicaDraft, own: ReplicaDraft) -> ReplicaDraft:
    return ReplicaDraft(
        assets=base.assets | own.assets, values=merge_user_values(base.values, own.values)
    )


def merge_user_values(base_values: Values, own_values: Values) -> Values:
    """Merge values as a user's are merged over an asset's. Both may remove items of lower
    layers."""
    merged = MergedLayers(keeps_exclusions=True)
    merged.add_layer(base_values, "template")
    merged.add_layer(own_values, USER)
    return merged.document


def keeps_draft(base: WorkloadDraft, draft: WorkloadDraft, document: Values) -> bool:
    """Whether a request that names the template and sends the ``document`` would mean exactly this
    draft. A request cannot say that a value was removed or reset to its default."""
    if base.kind != draft.kind or not _is_expressed(base.values, draft.values, document):
        return False
    for role, replica in draft.replicas.items():
        base_replica = base.replicas.get(role, base.worker)
        if replica.assets != base_replica.assets:
            return False
        if not _is_expressed(base_replica.values, replica.values, document.get(role, {})):
            return False
    return True


def _is_expressed(base_values: Values, own_values: Values, document: Values) -> bool:
    if merge_user_values(base_values, own_values) != own_values:
        return False  # a value of the template was removed, which a request cannot say
    return _are_sent(base_values, own_values, document)


def _are_sent(base_values: Values, own_values: Values, document: Values) -> bool:
    return all(
        _is_sent(base_values.get(key), value, document.get(key))
        for key, value in own_values.items()
    )


def _is_sent(base: Any, value: Any, sent: Any) -> bool:
    if base == value:
        return True
    if isinstance(value, dict):
        return _are_sent(base or {}, value, sent or {})
    if isinstance(value, list):
        return not any(isinstance(it, dict) and it.get("exclude") for it in value)
    return sent is not None
