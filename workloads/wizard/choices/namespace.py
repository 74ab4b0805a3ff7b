"""Check names of objects in the project's namespace. If the cluster lists such objects, a name that
does not exist gets a warning. Otherwise the page explains why the name has to be typed."""

from collections.abc import Collection

from core.forms.items import ShownCell, ShownItem
from core.forms.shown import ShownField
from core.words import name_first_three
from workloads.wizard.choices.offers import Offer

UNLISTED = "Trainyard may not list {} on this cluster: enter the name."
CLAIMS = UNLISTED.format("claims")
MAPS = UNLISTED.format("ConfigMaps")
SECRETS = "Trainyard lists no Secrets: enter the name."
#: For each list whose items may name a Secret, the cell that has the name.
SECRET_CELLS = {
    "imagePullSecrets": "name",
    "storage-secretVolume": "secret",
    "storage-git": "secretRef-name",
    "storage-s3": "accessKeySecret",
}


def add_notes(shown: ShownField, offer: Offer) -> None:
    """Add a note or a warning to each item of a list that names an object of the namespace."""
    if not (offer.cluster and offer.cluster.definition.has_secrets):
        return
    list_name = shown.field.name.removeprefix(f"{shown.field.within}-")
    for item in shown.items:
        if list_name == "storage-claims":
            _add_note(item.by_slug["claimName"], offer.claims, CLAIMS)
        elif list_name == "storage-configMapVolume":
            _add_note(item.by_slug["configMap"], offer.config_maps, MAPS)
        elif list_name in SECRET_CELLS:
            item.by_slug[SECRET_CELLS[list_name]].note = SECRETS
        elif list_name == "environmentVariables":
            _add_variable_note(item, offer)


def _add_note(cell: ShownCell, existing: Collection[str] | None, why_typed: str) -> None:
    if existing is None:
        cell.note = why_typed
    elif cell.value and cell.value not in existing:
        cell.warnings = [_missing_warning(existing)]


def _missing_warning(existing: Collection[str]) -> str:
    """Return the warning that an object does not exist. This is not an error, because the object
    can still be created before the workload starts."""
    objects = f"has {name_first_three(sorted(existing))}" if existing else "has none"
    return f"The project's namespace {objects}. Pods wait until there is one."


def _add_variable_note(item: ShownItem, offer: Offer) -> None:
    source = item.by_slug["source"].value
    value = item.by_slug["value"]
    if source == "secret":
        item.note = SECRETS
    elif source == "configMap" and offer.config_maps is None:
        item.note = MAPS
    elif source == "configMap":
        value.options = offer.choices["config_maps"]
        if value.value and value.value not in (offer.config_maps or ()):
            item.note = _missing_warning(offer.config_maps or ())
