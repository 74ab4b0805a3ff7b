"""A dataset as a data source: files that Trainyard keeps, in versions."""

from pydantic import Field

from spec.data.places import MountPath
from spec.part import Part


class Dataset(Part):
    """Where pods find the files: those of the version that a workload names, or else of the latest
    one."""

    path: MountPath = Field(description="Where it is mounted")
