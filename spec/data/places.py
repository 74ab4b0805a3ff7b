"""Where things are mounted, and what they are called there."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from spec.values.patterns import K8S_NAME
from spec.values.patterns import MODE as OCTAL

Name = Annotated[str, Field(min_length=1, max_length=253, pattern=K8S_NAME)]
Title = Annotated[str, Field(max_length=63)]
Mode = Annotated[str, Field(pattern=OCTAL)]
LONGEST_PATH = 4096


def _place(path: str) -> str:
    """A folder that can be mounted: absolute, and without what would lead elsewhere."""
    if not path.startswith("/") or path.rstrip("/") == "" or ":" in path or "\0" in path:
        raise ValueError(f"{path!r} is not a path below /; write one like /data")
    if ".." in path.split("/"):
        raise ValueError(f"{path!r} must not contain ..")
    return path


Place = Annotated[str, Field(max_length=LONGEST_PATH), AfterValidator(_place)]


def variable_of(place: str) -> str:
    """Where engines that cannot mount tell a program what is at a place: ``/mnt/my-data`` is
    ``VOLUME_MNT_MY_DATA``."""
    return f"VOLUME_{re.sub('[^A-Z0-9]+', '_', place.upper()).strip('_')}"


def _inside(path: str) -> str:
    if path.startswith("/") or ".." in path.split("/"):
        raise ValueError(f"{path!r} must be a path inside the volume, such as conf/train.yaml")
    return path


Inside = Annotated[str, Field(min_length=1), AfterValidator(_inside)]
