"""CIFAR-10's binary files. Without them, scikit-learn's digits are written in the same format."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from trainer.data.digits import Bytes, load_bundled
from trainer.data.sets import DataSet, Split
from trainer.errors import DataError

SIDE = 32
CHANNELS = 3
CLASSES = 10
RECORD = 1 + CHANNELS * SIDE * SIDE  # bytes: the label, then red, green and blue row by row
TRAIN = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
TEST = "test_batch.bin"
NAMES = "batches.meta.txt"
UNPACKED = "cifar-10-batches-bin"  # the folder in CIFAR-10's own archive
STAND_IN = Path("data", "digits-as-cifar-10")
STAND_IN_SEED = 1  # fixed, so that every machine writes the same files


def load(folder: Path | None) -> DataSet:
    """Load the images from a folder of CIFAR-10's binary files, or from the stand-in if there is
    none.

    Images are bytes (n, 3, 32, 32); ``Centered`` converts them batch by batch. Raises
    ``DataError``, which names the file and, if it is damaged, the first wrong byte.
    """
    if folder is None:
        make_stand_in(STAND_IN)
        return _read_dataset(STAND_IN, f"scikit-learn's digits in CIFAR-10's format, in {STAND_IN}")
    unpacked = folder / UNPACKED
    if unpacked.is_dir():
        folder = unpacked
    return _read_dataset(folder, f"CIFAR-10's files in {folder}")


def _read_dataset(folder: Path, name: str) -> DataSet:
    return DataSet(_read_split(folder, TRAIN), _read_split(folder, (TEST,)), name)


def _read_split(folder: Path, names: Sequence[str]) -> Split:
    records = np.concatenate([_read_records(folder / name) for name in names])
    images = records[:, 1:].reshape(-1, CHANNELS, SIDE, SIDE)
    labels = torch.from_numpy(records[:, 0].astype(np.int64))
    return Split(torch.from_numpy(np.ascontiguousarray(images)), labels)


def _read_records(path: Path) -> Bytes:
    """Return the records of a file, (n, RECORD) bytes. Raises ``DataError`` for an incomplete
    record or a label that is not from 0 to 9."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; --data-dir names CIFAR-10's folder") from error
    if not content or len(content) % RECORD:
        end = len(content) // RECORD * RECORD
        raise DataError(f"{path}: byte {end}: not a whole record of {RECORD} bytes")
    records = np.frombuffer(content, np.uint8).reshape(-1, RECORD)
    wrong = np.flatnonzero(records[:, 0] >= CLASSES)
    if len(wrong):
        first = int(wrong[0])
        label = records[first, 0]
        raise DataError(f"{path}: byte {first * RECORD}: label {label} is not from 0 to 9")
    return records


def make_stand_in(folder: Path) -> None:
    """Write the stand-in, unless the folder exists: real images of digits, enlarged from 8 x 8
    pixels to 32 x 32.

    Any number of ranks may call it at once, on one file system or several. Raises ``DataError`` if
    the folder cannot be written.
    """
    if folder.is_dir():
        return
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".making-") as scratch:
            draft = Path(scratch, "whole")
            _write_digits(draft)
            _move_into_place(draft, folder)
    except OSError as error:
        text = f"{folder}: the stand-in cannot be written: {error.strerror}; name a --data-dir"
        raise DataError(text) from error


def _move_into_place(draft: Path, folder: Path) -> None:
    """Rename a finished folder to its final name. If another rank was faster, its folder stays."""
    try:
        draft.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        shutil.rmtree(draft)


def _write_digits(folder: Path) -> None:
    """Write scikit-learn's digits as a folder of CIFAR-10's files: all channels alike, in a fixed
    random order."""
    images, labels = load_bundled()
    pixels = (images * 255.0 / images.max()).round().astype(np.uint8)
    large = pixels.repeat(SIDE // images.shape[1], axis=1).repeat(SIDE // images.shape[2], axis=2)
    grey = np.broadcast_to(large[:, None], (len(large), CHANNELS, SIDE, SIDE))
    records = np.concatenate([labels[:, None], grey.reshape(len(large), -1)], axis=1)
    order = np.random.default_rng(STAND_IN_SEED).permutation(len(records))
    folder.mkdir()
    for name, part in zip((*TRAIN, TEST), np.array_split(order, len(TRAIN) + 1), strict=True):
        (folder / name).write_bytes(records[part].astype(np.uint8).tobytes())
    words = "zero one two three four five six seven eight nine".split()
    (folder / NAMES).write_text("\n".join([*words, ""]))
