"""The pages of each kind of asset: ``/environments/``, ``/compute-resources/``, ``/templates/``."""

from typing import Any

from django.urls import URLPattern, path

from assets.base import AssetKind
from assets.kinds import KINDS
from assets.views import edit, gallery, single


def pages(kind: AssetKind[Any]) -> list[URLPattern]:
    prefix, options = kind.path, {"kind": kind}
    addresses = [
        path(f"{prefix}/", gallery.listing, options, name=f"{kind.slug}-list"),
        path(f"{prefix}/export.csv", gallery.export, options, name=f"{kind.slug}-csv"),
        path(f"{prefix}/<uuid:pk>/", single.detail, options, name=f"{kind.slug}-detail"),
        path(f"{prefix}/<uuid:pk>/edit/", edit.edit, options, name=f"{kind.slug}-edit"),
        path(f"{prefix}/<uuid:pk>/copy/", edit.copy, options, name=f"{kind.slug}-copy"),
        path(f"{prefix}/<uuid:pk>/delete/", single.delete, options, name=f"{kind.slug}-delete"),
    ]
    if kind.has_form:
        addresses.append(path(f"{prefix}/new/", edit.create, options, name=f"{kind.slug}-create"))
    return addresses


urlpatterns = [address for kind in KINDS.values() for address in pages(kind)]
