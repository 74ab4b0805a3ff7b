"""Trainyard's settings, with Django's admin added as a peer to measure against."""

from config.settings import *  # noqa: F403 -- all of them are needed
from config.settings import HOME, INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "django.contrib.admin"]
ROOT_URLCONF = "bench.urls"
STATIC_ROOT = HOME / "static"  # keeps the admin's files apart from the product's
