"""CIFAR-10's binary files, the stand-in in the same format, and what is said of damaged ones."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from trainer.data import cifar10
from trainer.errors import DataError


def record(label: int, value: int) -> bytes:
    return bytes([label]) + bytes([value]) * 1024 + bytes([value + 1]) * 1024 + bytes(1024)


def write_set(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for number, name in enumerate((*cifar10.TRAIN, cifar10.TEST)):
        (folder / name).write_bytes(record(number, 2 * number) + record(9, 0))
    return folder


def test_files_are_read_in_their_order_by_planes_of_color(tmp_path: Path) -> None:
    data = cifar10.load(write_set(tmp_path / "c"))
    assert data.train.labels.tolist() == [0, 9, 1, 9, 2, 9, 3, 9, 4, 9]
    assert data.test.labels.tolist() == [5, 9]
    assert data.train.inputs.shape == (10, 3, 32, 32)
    assert data.train.inputs.dtype == torch.uint8
    assert data.train.inputs[2, :, 7, 7].tolist() == [2, 3, 0]


def test_the_folder_may_be_that_in_which_the_archive_was_unpacked(tmp_path: Path) -> None:
    write_set(tmp_path / "cifar-10-batches-bin")
    assert len(cifar10.load(tmp_path).test) == 2


def test_the_stand_in_is_of_real_images_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = cifar10.load(None)
    assert (len(data.train), len(data.test)) == (1498, 299)
    assert "scikit-learn's digits in CIFAR-10's format" in data.name
    picture = data.train.inputs[0].numpy()
    assert picture.max() == 255
    assert (picture == picture[:, ::4, ::4].repeat(4, 1).repeat(4, 2)).all()
    assert np.bincount(data.train.labels.numpy()).min() > 100
    sizes = [path.stat().st_size for path in (tmp_path / cifar10.STAND_IN).glob("*.bin")]
    assert all(size % 3073 == 0 for size in sizes)


def test_several_ranks_can_write_the_stand_in_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "digits"
    with ThreadPoolExecutor(4) as ranks:
        list(ranks.map(cifar10.make_stand_in, [folder] * 4))
    assert [path.name for path in folder.parent.iterdir()] == ["digits"]
    assert len(list(folder.iterdir())) == 7


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"the stand-in cannot be written: .*; name a --data-dir"):
        cifar10.make_stand_in(tmp_path / "file" / "digits")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file or directory; --data-dir names"),
        (b"", "byte 0: not a whole record of 3073 bytes"),
        (record(0, 0) + b"half", "byte 3073: not a whole record"),
        (record(0, 0) + record(10, 0), "byte 3073: label 10 is not from 0 to 9"),
    ],
)
def test_a_damaged_file_is_named_with_the_byte(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = write_set(tmp_path / "c") / "data_batch_3.bin"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=f"data_batch_3.bin: {message}"):
        cifar10.load(path.parent)
