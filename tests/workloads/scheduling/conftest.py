"""These run on a cluster in memory."""

from tests.workloads.gangs import engine, project

__all__ = ["engine", "project"]
