"""Verbs about datasets; see ``tests.audit.verbs``."""

import tempfile
from pathlib import Path

from assets.data_source.datasets import store
from assets.data_source.datasets.model import DatasetVersion
from assets.datasets import services
from projects.scopes import OwningScope
from tests.audit.objects import SECRET, AuditedObjects, Verbs
from tests.datasets import make_dataset


def _begun(s: AuditedObjects) -> DatasetVersion:
    version = services.begin_version(make_dataset(s.project, s.admin), by=s.admin)
    store.write_piece(version.key, "token.txt", 0, SECRET.encode())
    return version


def _kept_version(s: AuditedObjects) -> DatasetVersion:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "token.txt")
        file.write_text(SECRET)
        return services.keep_files(_begun(s), {"token.txt": file}, by=s.admin)


_WHERE = "assets.datasets.services"
DATASETS: Verbs = {
    f"{_WHERE}.create_dataset": (
        "create data source",
        lambda s: services.create_dataset("mnist", scope=OwningScope(s.project), by=s.admin),
    ),
    f"{_WHERE}.finish_version": (
        "create dataset version",
        lambda s: services.finish_version(_begun(s), by=s.admin),
    ),
    f"{_WHERE}.keep_files": ("create dataset version", _kept_version),
    f"{_WHERE}.delete_version": (
        "delete dataset version",
        lambda s: services.delete_version(_kept_version(s), by=s.admin),
    ),
}
