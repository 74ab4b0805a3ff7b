"""REST: the version of Trainyard, and its logo."""

from base64 import b64encode

from django.conf import settings
from django.http import HttpRequest
from ninja import Field, Router

from core.rest.api import Wire

router = Router(tags=["Access"])

API_VERSION = "1.0.0"


class VersionOut(Wire):
    """The versions of Trainyard and of its API."""

    version: str = Field(description="The version of Trainyard")
    api: str = Field(
        description=(
            "The version of this API; its first number changes with each incompatible change"
        )
    )


@router.get("/version", response=VersionOut, by_alias=True)
def get_version(request: HttpRequest) -> VersionOut:
    """The version of Trainyard and of this API."""
    return VersionOut(version=settings.VERSION, api=API_VERSION)


class LogoOut(Wire):
    logo: str = Field(description="The picture as an address that contains it: data:image/svg+xml")


@router.get("/logo", response=LogoOut, by_alias=True)
def get_logo(request: HttpRequest) -> LogoOut:
    """The logo on the pages, which cannot be changed."""
    picture = (settings.BASE_DIR / "static" / "img" / "logo.svg").read_bytes()
    return LogoOut(logo=f"data:image/svg+xml;base64,{b64encode(picture).decode()}")
