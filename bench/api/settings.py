"""Trainyard's settings with a bare view beside its REST API, as a peer to measure against."""

from config.settings import *  # noqa: F403 -- all of them, that is the point

ROOT_URLCONF = "bench.api.urls"
