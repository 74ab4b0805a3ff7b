"""Who may pull the images."""

import re
from typing import Self
from uuid import UUID

from pydantic import Field, model_validator

from spec.part import Flag, Part
from spec.values.patterns import K8S_NAME, RULES


class PullSecret(Part):
    """What images are pulled with: a Secret with the password of a registry in the project's
    namespace, or a ``credential`` of that name. Which credential a name means is decided when the
    workload is submitted, and kept."""

    name: str = Field(
        min_length=1, max_length=253, description="The name of the Secret or of the credential"
    )
    credential: Flag = Field(False, description="A credential of Trainyard, by its name or ID")
    asset_id: UUID | None = Field(
        None,
        description=(
            "The ID of the credential; if it is left out, the credential is found by its name"
        ),
    )
    #: That it is one of the author's own: settled as well, and never kept.
    user_credential: Flag = Field(
        False,
        exclude=True,
        description=(
            "One of your own credentials: its name and key for a variable, or true for an image "
            "pull"
        ),
    )

    @model_validator(mode="after")
    def _name_of_its_kind(self) -> Self:
        if not (self.credential or self.user_credential) and not re.fullmatch(K8S_NAME, self.name):
            raise ValueError(f"name: {RULES[K8S_NAME]}")
        if self.asset_id and not self.credential:
            raise ValueError("assetId: only a credential has one")
        return self
