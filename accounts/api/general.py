"""REST: the general settings, in the form of Run:ai's settings of a tenant."""

from collections.abc import Iterator
from typing import Annotated, Literal, get_args

from ninja import Field, Query, Router

from accounts import access, general
from accounts.api.tokens import ApiRequest
from accounts.forms import SETTING_FIELDS
from core.rest.api import StrictBody, Wire, enum_schema, not_found
from core.rest.filters import TEXT, Fields
from core.rest.rows import WholeListing

router = Router(tags=["Access"])

Switch = Literal["tolerations", "topology"]
SWITCHES: tuple[Switch, ...] = get_args(Switch)
FIELDS: Fields = {"key": ("key", TEXT), "label": ("label", TEXT), "value": ("value", TEXT)}


class SettingOut(Wire):
    """``value`` is a text: ``true`` or ``false``."""

    key: Annotated[str, enum_schema(*SWITCHES)] = Field(
        description="The key of the setting, for PUT"
    )
    value: Annotated[str, enum_schema("true", "false")] = Field(
        description="true if it is on, else false"
    )
    type: Literal["Boolean"] = Field(default="Boolean", description="Its type")
    label: str = Field(description="The name that people read")
    description: str = Field(description="What is different if it is on")
    category: Literal["Workloads"] = Field(
        default="Workloads", description="The section of the page that it is in"
    )
    source: Literal["Tenant"] = Field(
        default="Tenant", description="Always Tenant: it is the same foreveryone"
    )
    stage: Literal["GA"] = Field(default="GA", description="Always GA: generally available")
    active: bool = Field(default=True, description="Always true: it is in use")


class SettingIn(StrictBody):
    key: Switch = Field(description="The setting to change")
    value: bool = Field(description="Whether it is on")


class SettingChanged(Wire):
    msg: Literal["done"] = Field(default="done", description="Always done")


@router.get("/settings", response=list[SettingOut], by_alias=True, url_name="general-settings")
def list_settings(request: ApiRequest, listing: Query[WholeListing]) -> list[SettingOut]:
    """The settings that administrators make foreveryone, such as what the wizard asks for."""
    access.require(request.user, "settings.read")
    return listing.select(_settings(), FIELDS, "key", "label", "description")


@router.get(
    "/settings/{setting_key}", response=SettingOut, by_alias=True, url_name="general-setting"
)
def get_setting(request: ApiRequest, setting_key: str) -> SettingOut:
    """One setting, by its key."""
    access.require(request.user, "settings.read")
    for setting in _settings():
        if setting.key == setting_key:
            return setting
    raise not_found("This setting")


@router.put("/settings", response=SettingChanged, by_alias=True)
def update_setting(request: ApiRequest, body: SettingIn) -> SettingChanged:
    """Change one setting. The others stay as they are."""
    settings = general.read_settings()
    switches: dict[str, bool] = {key: getattr(settings, key) for key in SWITCHES}
    general.update_settings(by=request.user, **(switches | {body.key: body.value}))
    return SettingChanged()


def _settings() -> Iterator[SettingOut]:
    settings = general.read_settings()
    for field in SETTING_FIELDS:
        value = "true" if getattr(settings, field.key) else "false"
        yield SettingOut(key=field.key, value=value, label=field.label, description=field.hint)
