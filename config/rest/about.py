"""REST: the version of Trainyard."""

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
