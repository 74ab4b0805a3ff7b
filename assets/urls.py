"""The pages of each kind of asset: ``/environments/``, ``/compute-resources/``, ``/templates/``."""

from typing import Any

from django.urls import URLPattern, path

from assets.base import AssetKind
from assets.datasets import views as datasets
from assets.gallery import edit, single, versions
from assets.gallery import views as gallery
from assets.kinds import KINDS


def pages(kind: AssetKind[Any]) -> list[URLPattern]:
    prefix = kind.path
    options = {"kind": kind}
    asset_path = f"{prefix}/<uuid:pk>"
    addresses = [
        path(f"{prefix}/", gallery.listing, options, name=f"{kind.slug}-list"),
        path(f"{prefix}/export.csv", gallery.export, options, name=f"{kind.slug}-csv"),
        path(f"{asset_path}/", single.detail, options, name=f"{kind.slug}-detail"),
        path(f"{asset_path}/edit/", edit.edit, options, name=f"{kind.slug}-edit"),
        path(f"{asset_path}/copy/", edit.copy, options, name=f"{kind.slug}-copy"),
        path(f"{asset_path}/delete/", single.delete, options, name=f"{kind.slug}-delete"),
        path(f"{asset_path}/versions/", versions.listing, options, name=f"{kind.slug}-versions"),
        path(
            f"{asset_path}/versions/<int:number>/restore/",
            versions.restore,
            options,
            name=f"{kind.slug}-restore",
        ),
    ]
    if kind.has_form:
        addresses.append(path(f"{prefix}/new/", edit.create, options, name=f"{kind.slug}-create"))
    return addresses


dataset_version = "datasets/<uuid:pk>/<int:number>"
urlpatterns = [
    *(address for kind in KINDS.values() for address in pages(kind)),
    path("datasets/", datasets.listing, name="dataset-list"),
    path(f"{dataset_version}/", datasets.version, name="dataset-version"),
    path(f"{dataset_version}/file/", datasets.download, name="dataset-file"),
    path(f"{dataset_version}/delete/", datasets.delete, name="dataset-version-delete"),
]
