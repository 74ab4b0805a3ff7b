"""Environment variables in a form: a value, the name of a Secret, ConfigMap or credential, or a pod
field.

A value that looks secret never goes to a page. The document keeps it as a part of the item that no
cell shows, and the mask that is posted instead restores it.
"""

from core.forms.field import Cell, Input, Repack, Values
from spec.values.variable import MASK, looks_secret

KEPT = "kept"  # the value behind the mask
CHOSEN = "chosen"  # the credential's id, used while its name stays the same
UNSET = "unset"  # there is no value, not even an empty one

VALUE = ""
SOURCES = (
    (VALUE, "Custom value"),
    ("secret", "Secret"),
    ("configMap", "ConfigMap"),
    ("podFieldRef", "Pod field"),
    ("credential", "Credential"),
)
KEYED_SOURCES = ("secret", "configMap", "credential")  # sources with keys
#: ``value`` is a value, a name, or a path in the pod.
CELLS = (
    Cell("name", "Name"),
    Cell(
        "value",
        "Value",
        strip=False,
        also=("secret.name", "configMap.name", "podFieldRef.path", "credential", "credential.name"),
    ),
    Cell("source", "Source", Input.SELECT, options=SOURCES),
    Cell("key", "Key", also=("secret.key", "configMap.key", "credential.key")),
)


def pack(cells: Values) -> Values:
    """Convert the cells of a form to a variable."""
    name, source, value, key = (cells.pop(it, "") for it in ("name", "source", "value", "key"))
    kept = cells.pop(KEPT, "")
    unset = cells.pop(UNSET, False)
    chosen = cells.pop(CHOSEN, {})
    if source in KEYED_SOURCES:
        is_same_credential = source == "credential" and chosen.get("name", "") == value
        reference = {**(chosen if is_same_credential else {}), "name": value, "key": key}
        return {**cells, "name": name, source: reference}
    if source == "podFieldRef":
        return {**cells, "name": name, source: {"path": value}}
    if unset and not value:
        return {**cells, "name": name}
    is_kept = kept and value == MASK and looks_secret(str(name))  # or its new name would reveal it
    return {**cells, "name": name, "value": kept if is_kept else value}


def unpack(item: Values) -> Values:
    """Convert a variable to the cells of a form."""
    other_cells = {key: value for key, value in item.items() if key not in dict(SOURCES)}
    for source in KEYED_SOURCES:
        if isinstance(reference := item.get(source), dict):
            chosen = {CHOSEN: {**reference, "key": None}} if reference.get("assetId") else {}
            source_cells = {
                "source": source,
                "value": reference.get("name"),
                "key": reference.get("key"),
            }
            return {**other_cells, **chosen, **source_cells}
    if isinstance(reference := item.get("podFieldRef"), dict):
        return {**other_cells, "source": "podFieldRef", "value": reference.get("path")}
    value = item.get("value")
    if value and value != MASK and looks_secret(str(item.get("name", ""))):
        return {**other_cells, "source": VALUE, "value": MASK, KEPT: value}
    absent = value is None and item.get("name")
    return {**other_cells, "source": VALUE} | ({UNSET: True} if absent else {})


REPACK = Repack(unpack, pack)
