"""Writes digits in the format of MNIST's files."""

import gzip
import struct
from pathlib import Path

import numpy as np


def idx(array: np.ndarray, *, magic: int | None = None) -> bytes:
    """Return an array as an IDX file of unsigned bytes, or with another magic number."""
    magic = 0x0800 | array.ndim if magic is None else magic
    header = struct.pack(f">{1 + array.ndim}I", magic, *array.shape)
    return header + array.astype(np.uint8).tobytes()


def write_set(folder: Path, count: int = 12, *, zipped: bool = False) -> Path:
    """Write a dataset of ``count`` images (6, 5) to a folder, for training and for testing."""
    images = np.arange(count * 6 * 5).reshape(count, 6, 5) % 256
    for part in ("train", "t10k"):
        files = {"images-idx3": images, "labels-idx1": np.arange(count) % 10}
        for name, array in files.items():
            content = idx(array)
            path = folder / f"{part}-{name}-ubyte{'.gz' if zipped else ''}"
            path.write_bytes(gzip.compress(content) if zipped else content)
    return folder
