"""Merges a draft with the template that it started from."""

from typing import Any

from spec.draft import ReplicaDraft, Values, WorkloadDraft
from spec.formats.merge import USER, Merged


def lay_replica_over(base: ReplicaDraft, own: ReplicaDraft) -> ReplicaDraft:
    return ReplicaDraft(
        assets=base.assets | own.assets, values=merge_user_values(base.values, own.values)
    )


def merge_user_values(base: Values, own: Values) -> Values:
    """Merge values as a user's are merged over an asset's."""
    merged = Merged()
    merged.lay(base, "template")
    merged.lay(own, USER)
    return merged.document


def keeps_draft(base: WorkloadDraft, draft: WorkloadDraft, document: Values) -> bool:
    """Whether a request that names the template and sends the ``document`` would mean exactly this
    draft. A request cannot say that a value was removed or reset to its default."""
    if base.kind != draft.kind or not _is_expressed(base.values, draft.values, document):
        return False
    for role, own in draft.replicas.items():
        theirs = base.replicas.get(role, base.worker)
        if own.assets != theirs.assets or not _is_expressed(
            theirs.values, own.values, document[role]
        ):
            return False
    return True


def _is_expressed(base: Values, own: Values, document: Values) -> bool:
    return merge_user_values(base, own) == own and _are_sent(base, own, document)


def _are_sent(base: Values, own: Values, document: Values) -> bool:
    return all(_is_sent(base.get(key), value, document.get(key)) for key, value in own.items())


def _is_sent(base: Any, value: Any, sent: Any) -> bool:
    if base == value:
        return True
    if isinstance(value, dict):
        return _are_sent(base or {}, value, sent or {})
    if isinstance(value, list):
        return not any(isinstance(it, dict) and it.get("exclude") for it in value)
    return sent is not None
