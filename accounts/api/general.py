"""REST: the general settings, one by one, as Run:ai has settings of a tenant."""

from collections.abc import Iterator
from typing import Annotated, Literal, get_args

from ninja import Query, Router

from accounts import access, general
from accounts.api.tokens import ApiRequest
from accounts.forms import SETTINGS
from core.rest.api import Closed, Wire, not_found, words
from core.rest.filters import TEXT, Fields
from core.rest.rows import WholeListing

router = Router(tags=["Access"])

Switch = Literal["tolerations", "topology"]
SWITCHES: tuple[Switch, ...] = get_args(Switch)
FIELDS: Fields = {"key": ("key", TEXT), "label": ("label", TEXT), "value": ("value", TEXT)}


class SettingOut(Wire):
    """``value`` is a text: ``true`` or ``false``."""

    key: Annotated[str, words(*SWITCHES)]
    value: Annotated[str, words("true", "false")]
    type: Literal["Boolean"] = "Boolean"
    label: str
    description: str
    category: Literal["Workloads"] = "Workloads"
    source: Literal["Tenant"] = "Tenant"
    stage: Literal["GA"] = "GA"
    active: bool = True


class SettingIn(Closed):
    key: Switch
    value: bool


class SettingChanged(Wire):
    msg: Literal["done"] = "done"


@router.get("/settings", response=list[SettingOut], by_alias=True, url_name="general-settings")
def list_settings(request: ApiRequest, listing: Query[WholeListing]) -> list[SettingOut]:
    """The settings that administrators make for everyone, such as what the wizard asks for."""
    access.require(request.user, "settings.read")
    return listing.of(_all(), FIELDS, "key", "label", "description")


@router.get(
    "/settings/{setting_key}", response=SettingOut, by_alias=True, url_name="general-setting"
)
def get_setting(request: ApiRequest, setting_key: str) -> SettingOut:
    """One setting, by its key."""
    access.require(request.user, "settings.read")
    for setting in _all():
        if setting.key == setting_key:
            return setting
    raise not_found("This setting")


@router.put("/settings", response=SettingChanged, by_alias=True)
def update_setting(request: ApiRequest, body: SettingIn) -> SettingChanged:
    """Change one setting. The others stay as they are."""
    settings = general.current()
    switches: dict[str, bool] = {key: getattr(settings, key) for key in SWITCHES}
    general.update(by=request.user, **(switches | {body.key: body.value}))
    return SettingChanged()


def _all() -> Iterator[SettingOut]:
    settings = general.current()
    for field in SETTINGS:
        value = "true" if getattr(settings, field.key) else "false"
        yield SettingOut(key=field.key, value=value, label=field.label, description=field.hint)
