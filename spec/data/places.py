"""Paths where things are mounted, and the variables for them."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from spec.values.patterns import K8S_NAME
from spec.values.patterns import MODE as OCTAL

Name = Annotated[str, Field(min_length=1, max_length=253, pattern=K8S_NAME)]
Title = Annotated[str, Field(max_length=63)]
Mode = Annotated[str, Field(pattern=OCTAL)]
LONGEST_PATH = 4096


def _check_mount_path(path: str) -> str:
    """Check that a path is one to mount at: absolute, below ``/``, and without parts that lead
    elsewhere."""
    if not path.startswith("/") or path.rstrip("/") == "" or ":" in path or "\0" in path:
        raise ValueError(f"{path!r} is not a path below /; write one like /data")
    if ".." in path.split("/"):
        raise ValueError(f"{path!r} must not contain ..")
    return path


MountPath = Annotated[str, Field(max_length=LONGEST_PATH), AfterValidator(_check_mount_path)]


def volume_variable(place: str) -> str:
    """Return the variable by which engines that cannot mount tell a program where a volume is:
    ``VOLUME_MNT_MY_DATA`` for ``/mnt/my-data``."""
    return f"VOLUME_{re.sub('[^A-Z0-9]+', '_', place.upper()).strip('_')}"


def _check_sub_path(path: str) -> str:
    if path.startswith("/") or ".." in path.split("/"):
        raise ValueError(f"{path!r} must be a path inside the volume, such as conf/train.yaml")
    return path


SubPath = Annotated[str, Field(min_length=1), AfterValidator(_check_sub_path)]
