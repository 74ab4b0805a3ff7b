"""All addresses, grouped by what they are about."""

from django.urls import URLPattern, URLResolver, include, path

from config.health import healthz

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz, name="healthz"),
    path("accounts/", include("allauth.urls")),
]
