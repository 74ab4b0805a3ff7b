"""Checkpoints that a crash cannot damage: written to a temporary name, flushed, renamed, and
checked when they are loaded.

Each consists of two files. ``step-00000050.pt`` holds what the training needs;
``step-00000050.json`` holds what people and programs may want to know, with size and SHA-256 of the
first. The JSON is written last: a checkpoint without it, or that does not match it, does not count.
The newest three are kept.
"""

import hashlib
import json
import os
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch

from trainer.errors import UsageError
from trainer.record.metrics import say

KEEP = 3  # the newest may be damaged, or from a moment to which nobody wants to return


def save(folder: Path, step: int, state: dict[str, Any], about: dict[str, Any]) -> Path:
    """Write one checkpoint, delete the oldest, and return the path of the new JSON file.

    ``state`` is what ``newest`` returns; ``about`` is a small dict that goes into the JSON. Raises
    ``UsageError`` if the folder cannot be written.
    """
    data = folder / f"step-{step:08d}.pt"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _draft_path(data).open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        facts = {
            "step": step,
            **about,
            "file": data.name,
            "bytes": _draft_path(data).stat().st_size,
            "sha256": _digest(_draft_path(data)),
        }
        _draft_path(data).replace(data)
        meta = data.with_suffix(".json")
        with _draft_path(meta).open("w") as text:
            json.dump(facts, text, indent=2)
            text.flush()
            os.fsync(text.fileno())
        _draft_path(meta).replace(meta)
        _sync_folder(folder)
        for old_meta in sorted(folder.glob("step-*.json"))[:-KEEP]:
            old_meta.unlink()  # before the data: a JSON file must never claim data that is gone
            old_meta.with_suffix(".pt").unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write a checkpoint to {folder}: {error}") from error
    return meta


def load_newest(folder: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Load the newest intact checkpoint: its state and its JSON, or ``None`` if there is none.

    Damaged ones are skipped, each with a line in the log.
    """
    for meta in sorted(folder.glob("step-*.json"), reverse=True):
        try:
            about = json.loads(meta.read_text())
            data = folder / about["file"]
            if _digest(data) != about["sha256"]:
                raise ValueError(f"{data.name} does not match its checksum")
            return torch.load(data, map_location="cpu", weights_only=True), about
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, UnpicklingError) as error:
            say(f"Passing over checkpoint {meta}: {error}")
    return None


def delete_all(folder: Path) -> None:
    """Delete every checkpoint in the folder, for a training that starts from scratch."""
    for meta in folder.glob("step-*.json"):
        meta.unlink()
        meta.with_suffix(".pt").unlink(missing_ok=True)


def _draft_path(path: Path) -> Path:
    # In the same folder: a rename is atomic only within a file system.
    return path.with_name(f".{path.name}.tmp")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync_folder(folder: Path) -> None:
    # The folder is flushed too, or a power cut could lose the new names.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
