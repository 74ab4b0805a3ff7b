"""The pages of each kind of asset: ``/environments/``, ``/compute-resources/``, ``/templates/``."""

from typing import Any

from django.urls import URLPattern, path

from assets.base import AssetKind
from assets.gallery import edit, single, versions
from assets.gallery import views as gallery
from assets.kinds import KINDS


def pages(kind: AssetKind[Any]) -> list[URLPattern]:
    prefix = kind.path
    options = {"kind": kind}
    one = f"{prefix}/<uuid:pk>"
    addresses = [
        path(f"{prefix}/", gallery.listing, options, name=f"{kind.slug}-list"),
        path(f"{prefix}/export.csv", gallery.export, options, name=f"{kind.slug}-csv"),
        path(f"{one}/", single.detail, options, name=f"{kind.slug}-detail"),
        path(f"{one}/edit/", edit.edit, options, name=f"{kind.slug}-edit"),
        path(f"{one}/copy/", edit.copy, options, name=f"{kind.slug}-copy"),
        path(f"{one}/delete/", single.delete, options, name=f"{kind.slug}-delete"),
        path(f"{one}/versions/", versions.listing, options, name=f"{kind.slug}-versions"),
        path(
            f"{one}/versions/<int:number>/restore/",
            versions.restore,
            options,
            name=f"{kind.slug}-restore",
        ),
    ]
    if kind.has_form:
        addresses.append(path(f"{prefix}/new/", edit.create, options, name=f"{kind.slug}-create"))
    return addresses


urlpatterns = [address for kind in KINDS.values() for address in pages(kind)]
