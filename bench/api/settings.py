"""Trainyard's settings, with a bare view added to the REST API as a peer to measure against."""

from config.settings import *  # noqa: F403 -- all of them are needed

ROOT_URLCONF = "bench.api.urls"
