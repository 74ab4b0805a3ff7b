"""Datasets with versions, for tests."""

from pathlib import Path

from accounts.models import User
from assets.data_source.datasets.model import DatasetVersion
from assets.data_source.datasets.store import files_below
from assets.data_source.model import DataSource
from assets.datasets import services
from projects.models import Project
from projects.scopes import OwningScope


def make_dataset(project: Project, by: User, name: str = "mnist") -> DataSource:
    return services.create_dataset(name, scope=OwningScope(project), by=by)


def add_version(dataset: DataSource, by: User, folder: Path, **files: str) -> DatasetVersion:
    """Add a version with these files, by their names without a suffix."""
    source = folder / "source"
    source.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (source / f"{name}.txt").write_text(text)
    version = services.begin_version(dataset, by=by)
    kept = {path: source / path for path in files_below(source)}
    return services.keep_files(version, kept, by=by)
