"""Environment variables in a form: a value, the name of a Secret, ConfigMap or credential, or
a pod field.

The value of one that looks secret never goes into a page. It stays in the document, as what no cell
shows of the item, and the mask that is posted in its place keeps it.
"""

from core.forms.field import Cell, Input, Repack, Values
from spec.values.variable import MASK, looks_secret

KEPT = "kept"  # the value behind the mask, among the cells
CHOSEN = "chosen"  # the same: the credential by its id, as long as its name stays
UNSET = "unset"  # among them too, where there is no value, not even an empty one

VALUE = ""
SOURCES = (
    (VALUE, "Custom value"),
    ("secret", "Secret"),
    ("configMap", "ConfigMap"),
    ("podFieldRef", "Pod field"),
    ("credential", "Credential"),
)
NAMED = ("secret", "configMap", "credential")  # which have keys
#: ``value`` is that, or a name, or a path in the pod.
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
    name, source, value, key = (cells.pop(it, "") for it in ("name", "source", "value", "key"))
    kept, unset = cells.pop(KEPT, ""), cells.pop(UNSET, False)
    chosen = cells.pop(CHOSEN, {})
    if source in NAMED:
        same = source == "credential" and chosen.get("name", "") == value
        of = {**(chosen if same else {}), "name": value, "key": key}
        return {**cells, "name": name, source: of}
    if source == "podFieldRef":
        return {**cells, "name": name, source: {"path": value}}
    if unset and not value:
        return {**cells, "name": name}
    is_kept = kept and value == MASK and looks_secret(str(name))  # else its new name would show it
    return {**cells, "name": name, "value": kept if is_kept else value}


def unpack(item: Values) -> Values:
    whole = {key: value for key, value in item.items() if key not in dict(SOURCES)}
    for source in NAMED:
        if isinstance(of := item.get(source), dict):
            chosen = {CHOSEN: {**of, "key": None}} if of.get("assetId") else {}
            where = {"source": source, "value": of.get("name"), "key": of.get("key")}
            return {**whole, **chosen, **where}
    if isinstance(of := item.get("podFieldRef"), dict):
        return {**whole, "source": "podFieldRef", "value": of.get("path")}
    value = item.get("value")
    if value and value != MASK and looks_secret(str(item.get("name", ""))):
        return {**whole, "source": VALUE, "value": MASK, KEPT: value}
    absent = value is None and item.get("name")
    return {**whole, "source": VALUE} | ({UNSET: True} if absent else {})


REPACK = Repack(unpack, pack)
