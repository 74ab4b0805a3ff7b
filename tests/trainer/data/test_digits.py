"""The digits, and what is said of files that are not."""

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.trainer.data.idx_files import idx, write_set
from trainer.data import digits as source
from trainer.errors import DataError


@pytest.mark.parametrize("zipped", [False, True])
def test_idx_files_are_read_and_normalised(tmp_path: Path, zipped: bool) -> None:
    digits = source.load(write_set(tmp_path, zipped=zipped), seed=1)
    assert digits.train.inputs.shape == (12, 1, 6, 5)
    assert digits.train.labels.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]
    assert digits.train.inputs.mean().item() == pytest.approx(0, abs=1e-4)
    assert digits.train.inputs.std().item() == pytest.approx(1, abs=1e-2)


def test_the_bundled_digits_are_split_by_the_seed() -> None:
    digits, again, other = (source.load(None, seed) for seed in (1, 1, 2))
    assert (len(digits.train), len(digits.test)) == (1438, 359)
    assert digits.train.inputs.shape[1:] == (1, 8, 8)
    assert digits.train.labels.bincount().min() > 100
    assert torch.equal(digits.test.inputs, again.test.inputs)
    assert not torch.equal(digits.test.labels, other.test.labels)


IMAGES = "train-images-idx3-ubyte"
LABELS = "train-labels-idx1-ubyte"
GOOD = idx(np.zeros((12, 6, 5)))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (IMAGES, b"", "byte 0: ends inside the 16 bytes of header"),
        (IMAGES, GOOD[:9], "byte 9: ends inside"),
        (IMAGES, GOOD[:100], "byte 100: the header promises 360 bytes of data .12 x 6 x 5., .* 84"),
        (IMAGES, GOOD + b"!", "byte 376: the header promises 360"),
        (IMAGES, idx(np.zeros(12)) + b"." * 9, "byte 0: magic 0x00000801, expected 0x00000803"),
        (IMAGES, idx(np.zeros((12, 6, 5)), magic=0x0D03), "byte 0: magic 0x00000d03"),
        (IMAGES, idx(np.zeros((0, 6, 5))), "byte 4: a dimension of 0"),
        (IMAGES, idx(np.zeros((12, 3, 5))), "byte 8: images must be 4 x 4 or more"),
        (LABELS, idx(np.zeros(11)), "byte 4: 11 labels, but .* has 12 images"),
        (LABELS, idx(np.array([0] * 7 + [10] + [0] * 4)), "byte 15: label 10 is not from 0 to 9"),
        (LABELS, GOOD, "byte 0: magic 0x00000803, expected 0x00000801"),
    ],
)
def test_a_damaged_file_is_named_with_the_byte(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (write_set(tmp_path) / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{name}: {message}"):
        source.load(tmp_path, seed=1)


@pytest.mark.parametrize(
    "content",
    [b"not gzip", gzip.compress(GOOD, mtime=0)[:-20], b""],
    ids=["not gzip", "torn", "empty"],
)
def test_a_damaged_gzip_is_named(tmp_path: Path, content: bytes) -> None:
    path = write_set(tmp_path, zipped=True) / f"{IMAGES}.gz"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{IMAGES}\.gz: "):
        source.load(tmp_path, seed=1)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (write_set(tmp_path) / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(DataError, match="neither t10k-labels-idx1-ubyte nor"):
        source.load(tmp_path, seed=1)
