"""All addresses, grouped by what they are about."""

from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from config.api import api
from config.health import healthz
from core.views import styleguide

urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(pattern_name="workload-list"), name="home"),
    path("healthz", healthz, name="healthz"),
    path("api/v1/", api.urls),
    path("accounts/", include("allauth.urls")),
    path("", include("accounts.urls")),
    path("", include("assets.urls")),
    path("", include("clusters.urls")),
    path("", include("projects.urls")),
    path("styleguide/", styleguide, name="styleguide"),
    path("", include("workloads.urls")),
]
