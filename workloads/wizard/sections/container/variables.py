"""Convert variables between the document and the wizard's cells. In the wizard a credential is
chosen: an option has the value ``id:name``, or only one of the two if the document has no more."""

from assets.credential.injection.binding import USER_CREDENTIAL
from assets.environment import variables
from assets.environment.variables import CHOSEN, KEPT, UNSET
from core.forms.field import Repack, Values
from core.web.query import parse_uuid

CREDENTIAL = "credential"


def option_value(named: Values) -> str:
    """Return the option's value: ``8f14e45f-…:hub``, or only the name of a credential without an
    id."""
    return ":".join(str(named[key]) for key in ("assetId", "name") if named.get(key))


def unpack(item: Values) -> Values:
    """Return the cells of a variable. A credential becomes an option of the choice."""
    if (
        isinstance(own := item.get(USER_CREDENTIAL), dict) and CREDENTIAL not in item
    ):  # the nearest of its name
        item = {key: value for key, value in item.items() if key != USER_CREDENTIAL} | {
            CREDENTIAL: own
        }
    cells = variables.unpack(item)
    named = item.get(CREDENTIAL)
    if not isinstance(named, dict):
        return cells
    return cells | {"value": option_value(named), CHOSEN: {**named, "key": None}}


def pack(cells: Values) -> Values:
    """Build the variable from its cells. A value entered for another source is dropped, and so is
    the key of another credential."""
    if cells.get("source") != CREDENTIAL:
        if CHOSEN in cells:
            cells = {k: v for k, v in cells.items() if k != CHOSEN} | {"value": "", "key": ""}
        return variables.pack(cells)
    chosen = cells.get(CHOSEN)
    value = str(cells.get("value", ""))
    key = cells.get("key", "")
    if chosen is not None and value in {option_value(chosen), chosen.get("name")}:
        credential = chosen | {"key": key}
    else:
        credential = _parse_option(value, typed=chosen is not None)
        # A key belongs to the credential that it was chosen with.
        is_new_choice = chosen is None and "assetId" in credential
        credential |= {"key": key if is_new_choice else ""}
    cell_keys = {"name", "source", "value", "key", KEPT, UNSET, CHOSEN}
    rest = {name: cell for name, cell in cells.items() if name not in cell_keys}
    return {**rest, "name": cells.get("name", ""), CREDENTIAL: credential}


def _parse_option(value: str, *, typed: bool) -> Values:
    """Parse an option's value into a credential. The value is a bare name only if ``typed``, which
    is possible if there are too many credentials for a list."""
    pk, _, name = value.partition(":")
    if parse_uuid(pk):
        return {"assetId": pk} | ({"name": name} if name else {})
    return {"name": value if typed else ""}


REPACK = Repack(unpack, pack)
