"""Searching the whole of a log on the server, a slice of time a request."""

from workloads.logs.search.hits import Hit, Hits
from workloads.logs.search.needle import Needle

__all__ = ["Hit", "Hits", "Needle"]
