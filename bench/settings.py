"""Trainyard's settings with Django's admin beside it, as a peer to measure against."""

from config.settings import *  # noqa: F403 -- all of them, that is the point
from config.settings import HOME, INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "django.contrib.admin"]
ROOT_URLCONF = "bench.urls"
STATIC_ROOT = HOME / "static"  # the admin's files do not belong among the product's
