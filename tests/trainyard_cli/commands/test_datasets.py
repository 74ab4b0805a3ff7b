"""Datasets from the command line, with OSMO's options and output."""

import json
from pathlib import Path

import pytest
from pytest_django import Settings

from tests.trainyard_cli.terminal import Terminal
from trainyard_cli.commands.datasets import size_text


@pytest.fixture(autouse=True)
def _datasets_folder(settings: Settings, tmp_path: Path) -> None:
    settings.DATASETS = tmp_path / "datasets"


def test_a_folder_is_uploaded_listed_and_downloaded_again(
    terminal: Terminal, tmp_path: Path
) -> None:
    source = tmp_path / "digits"
    (source / "raw").mkdir(parents=True)
    (source / "raw" / "one.bin").write_bytes(bytes(3 * 1024 * 1024))
    (source / "readme.md").write_text("digits")
    (source / "empty").touch()
    assert "mnist:1 has 3 files, 3.0 MiB" in terminal(f"dataset upload mnist {source}").out
    assert "mnist:2 has 1 file, " in terminal(f"dataset upload mnist {source}/readme.md").out
    heads, _, row = terminal("dataset list").out.splitlines()
    assert heads.split("  ")[0] == "Bucket"
    assert row.startswith("Project team-a  mnist")
    shown = json.loads(terminal("dataset info mnist -t json").out)
    assert [version["number"] for version in shown["versions"]] == [2, 1]
    target = tmp_path / "target"
    terminal(f"dataset download mnist:1 {target}")
    saved = {it.relative_to(target): it.read_bytes() for it in target.rglob("*") if it.is_file()}
    sent = {it.relative_to(source): it.read_bytes() for it in source.rglob("*") if it.is_file()}
    assert saved == sent


def test_a_version_is_deleted_and_then_the_dataset(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    terminal(f"dataset upload mnist {tmp_path}/a.txt")
    terminal("dataset delete mnist", code=2)
    assert terminal("dataset delete mnist:1 --force").out == "Deleted mnist:1.\n"
    terminal("dataset delete mnist --all --force")
    assert terminal("dataset list").out == "There are no datasets to view.\n"
    assert "There is no dataset mnist" in terminal("dataset info mnist", code=4).err


@pytest.mark.parametrize(("size", "text"), [(7, "7 B"), (1536, "1.5 KiB"), (1024**3, "1.0 GiB")])
def test_sizes_have_units(size: int, text: str) -> None:
    assert size_text(size) == text
