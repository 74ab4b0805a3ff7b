"""``/environments/``, ``/compute-resources/`` and ``/templates/``: the same pages for each kind."""

from django.urls import URLPattern, path

from assets.kinds import COMPUTE, ENVIRONMENT, TEMPLATE, Kind
from assets.views import edit, gallery


def _pages(prefix: str, kind: Kind) -> list[URLPattern]:
    options = {"kind": kind}
    pages = [
        path(f"{prefix}/", gallery.listing, options, name=f"{kind.slug}-list"),
        path(f"{prefix}/<uuid:pk>/", gallery.detail, options, name=f"{kind.slug}-detail"),
        path(f"{prefix}/<uuid:pk>/edit/", edit.edit, options, name=f"{kind.slug}-edit"),
        path(f"{prefix}/<uuid:pk>/copy/", edit.copy, options, name=f"{kind.slug}-copy"),
        path(f"{prefix}/<uuid:pk>/delete/", gallery.delete, options, name=f"{kind.slug}-delete"),
    ]
    if kind.create:
        pages.append(path(f"{prefix}/new/", edit.create, options, name=f"{kind.slug}-create"))
    return pages


urlpatterns = [
    *_pages("environments", ENVIRONMENT),
    *_pages("compute-resources", COMPUTE),
    *_pages("templates", TEMPLATE),
]
