"""Handwritten digits: MNIST's IDX files, or the small set that ships with scikit-learn."""

import gzip
import importlib.util
import math
import struct
import zlib
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from trainer.data.sets import DataSet, Split
from trainer.errors import DataError

Bytes: TypeAlias = NDArray[np.uint8]
UNSIGNED_BYTE = 0x08  # IDX's code of the only element type that MNIST uses
CLASSES = 10
SMALLEST = 4  # pixels: the network halves each side twice
TEST_SHARE = 0.2  # of scikit-learn's digits, which have no test set of their own


def load(folder: Path | None, seed: int) -> DataSet:
    """Load the digits from a folder of IDX files, or scikit-learn's if ``folder`` is ``None``.

    Images are floats (n, 1, height, width), scaled by the mean and deviation of the training set.
    ``seed`` decides which of scikit-learn's digits are for testing. Raises ``DataError``, which
    names the file and, if it is damaged, the first wrong byte.
    """
    if folder is None:
        images, labels = load_bundled()
        order = np.random.default_rng(seed).permutation(len(labels))
        test, train = np.split(order, [round(len(order) * TEST_SHARE)])
        return _scale_images(
            (images[train], labels[train]), (images[test], labels[test]), "scikit-learn digits"
        )
    return _scale_images(
        _idx_pair(folder, "train"), _idx_pair(folder, "t10k"), f"IDX files in {folder}"
    )


def _scale_images(train: tuple[Bytes, Bytes], test: tuple[Bytes, Bytes], name: str) -> DataSet:
    """Scale images by the mean and deviation of the training set, and return the dataset."""
    mean = float(train[0].mean())
    deviation = float(train[0].std()) or 1.0

    def split(images: Bytes, labels: Bytes) -> Split:
        pixels = torch.from_numpy(images.astype(np.float32)).sub_(mean).div_(deviation)
        return Split(pixels.unsqueeze(1), torch.from_numpy(labels.astype(np.int64)))

    return DataSet(split(*train), split(*test), name)


def load_bundled() -> tuple[Bytes, Bytes]:
    """Return scikit-learn's digits: images (n, 8, 8) with values from 0 to 16, and labels (n).

    Raises ``DataError`` if scikit-learn is not installed, or its file cannot be read.
    """
    # The file is read directly, because importing scikit-learn takes longer than the first hundred
    # steps.
    package = importlib.util.find_spec("sklearn")
    if package is None or not package.submodule_search_locations:
        raise DataError("scikit-learn and its digits are not installed: name a --data-dir")
    path = Path(package.submodule_search_locations[0]) / "datasets" / "data" / "digits.csv.gz"
    try:
        with gzip.open(path, "rt") as lines:
            table = np.loadtxt(lines, delimiter=",").astype(np.uint8)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"{path}: {error}; name a --data-dir") from error
    return table[:, :-1].reshape(-1, 8, 8), table[:, -1]


def _idx_pair(folder: Path, part: str) -> tuple[Bytes, Bytes]:
    """Read the images and labels of one part, ``train`` or ``t10k``, and check that they match."""
    images_path = _find_file(folder, f"{part}-images-idx3-ubyte")
    labels_path = _find_file(folder, f"{part}-labels-idx1-ubyte")
    images = read_idx(images_path, dimensions=3)
    labels = read_idx(labels_path, dimensions=1)
    if len(images) != len(labels):
        raise DataError(
            f"{labels_path}: byte 4: {len(labels)} labels, but {images_path.name} has "
            f"{len(images)} images"
        )
    if min(images.shape[1:]) < SMALLEST:
        raise DataError(f"{images_path}: byte 8: images must be {SMALLEST} x {SMALLEST} or more")
    wrong = np.flatnonzero(labels >= CLASSES)
    if len(wrong):
        first = int(wrong[0])
        raise DataError(
            f"{labels_path}: byte {8 + first}: label {labels[first]} is not from 0 to {CLASSES - 1}"
        )
    return images, labels


def _find_file(folder: Path, name: str) -> Path:
    """Return the path of a file, plain or with ``.gz``. Raises ``DataError`` if neither exists."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise DataError(f"{folder}: neither {name} nor {name}.gz is there")


def read_idx(path: Path, *, dimensions: int) -> Bytes:
    """Read an IDX file of unsigned bytes, which is gzipped if its name ends in ``.gz``.

    It must have ``dimensions`` dimensions, none of them 0, and exactly the data that its header
    announces. Otherwise ``DataError`` names the first wrong byte.
    """
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: {error}") from error
    header = 4 + 4 * dimensions
    if len(content) < header:
        raise DataError(f"{path}: byte {len(content)}: ends inside the {header} bytes of header")
    magic, *shape = struct.unpack(f">{1 + dimensions}I", content[:header])
    expected = UNSIGNED_BYTE << 8 | dimensions
    if magic != expected:
        raise DataError(f"{path}: byte 0: magic 0x{magic:08x}, expected 0x{expected:08x}")
    if not all(shape):
        raise DataError(f"{path}: byte {4 + 4 * shape.index(0)}: a dimension of 0")
    size = math.prod(shape)
    if len(content) != header + size:
        raise DataError(
            f"{path}: byte {min(len(content), header + size)}: the header promises {size} bytes "
            f"of data ({' x '.join(map(str, shape))}), there are {len(content) - header}"
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)
