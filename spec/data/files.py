"""ConfigMaps and Secrets as files in a pod."""

import re
from typing import Annotated, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from spec.data.places import Mode, MountPath, Name, SubPath, Title
from spec.part import Part
from spec.values.variable import ONE_OF_BOTH, CredentialFiles, Text

MOST_DATA = 500_000  # bytes of files in one document
FILE = re.compile(r"[A-Za-z0-9_.-]+")  # a key of a Secret or ConfigMap


def _check_file_name(name: str) -> str:
    if not FILE.fullmatch(name) or name.startswith("..") or name == ".":
        raise ValueError(f"{name!r} is not a file name; use letters, digits, hyphens, dots and _")
    return name


FileName = Annotated[str, Field(min_length=1, max_length=253), AfterValidator(_check_file_name)]


class ConfigFile(Part):
    """A file of a new ConfigMap. Its text is kept exactly, spaces at its ends too."""

    model_config = ConfigDict(str_strip_whitespace=False, str_max_length=MOST_DATA)

    name: FileName = Field(description="The name of the file")
    content: Text = Field(description="The text of the file")


class ConfigMapVolume(Part):
    """Files at ``mountPath``: those of a ConfigMap that exists, or ``files`` of a new one."""

    name: Title = Field("", description="The name")
    config_map: Name | None = Field(None, description="The name of the ConfigMap")
    files: tuple[ConfigFile, ...] = Field(
        (), description="The files of a new ConfigMap; empty for one that exists"
    )
    mount_path: MountPath = Field(description="Where it is mounted")
    sub_path: SubPath | None = Field(
        None, description="The one key that is mounted as a file; all keys if it is null"
    )
    default_mode: Mode | None = Field(
        None, description="The permissions of the files as four octal digits; 0644 if it is null"
    )

    @model_validator(mode="after")
    def _from_one_place(self) -> Self:
        if bool(self.config_map) == bool(self.files):
            twice = "give either the name of a ConfigMap or files, not both"
            raise ValueError(f"configMap: {twice if self.files else 'is required, or files'}")
        return self

    @model_validator(mode="after")
    def _files_of_one_folder(self) -> Self:
        names = [file.name for file in self.files]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"files: {', '.join(sorted(twice))} is listed twice")
        if sum(len(file.content.encode()) for file in self.files) > MOST_DATA:
            raise ValueError(f"files: hold more than {MOST_DATA // 1000} KB; use a volume or Git")
        if self.files and self.sub_path and self.sub_path not in names:
            raise ValueError(f"subPath: there is no file {self.sub_path} among the files")
        return self

    @property
    def texts(self) -> dict[str, str]:
        """By the names of its own files."""
        return {file.name: file.content for file in self.files}


class SecretVolume(Part):
    """Files at ``mountPath``, one for each key of a Secret that exists, or of a credential."""

    name: Title = Field("", description="The name")
    secret: Name | None = Field(None, description="The name of the Secret")
    credential: CredentialFiles | None = Field(
        None, description="The credential that is mounted instead of a Secret"
    )
    mount_path: MountPath = Field(description="Where it is mounted")
    default_mode: Mode | None = Field(
        None, description="The permissions of the files as four octal digits; 0644 if it is null"
    )

    @model_validator(mode="after")
    def _from_one_place(self) -> Self:
        if self.credential and self.secret:
            raise ValueError(f"credential: {ONE_OF_BOTH}")
        if not (self.credential or self.secret):
            raise ValueError("secret: is required, or a credential")
        return self
