"""A checkpoint is whole or it does not count."""

import json
from pathlib import Path

import pytest
import torch

from trainer.errors import UsageError
from trainer.record import checkpoint


def save(folder: Path, step: int) -> Path:
    state = {"weights": torch.full((50,), float(step))}
    return checkpoint.save(folder, step, state, {"epoch": 1})


def found_step(folder: Path) -> int | None:
    found = checkpoint.load_newest(folder)
    if found is None:
        return None
    state, about = found
    assert state["weights"][0] == about["step"]
    return int(about["step"])


def test_the_newest_three_are_kept_and_nothing_else_is_left(tmp_path: Path) -> None:
    for step in (1, 2, 9, 10, 100):
        save(tmp_path, step)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"step-{step:08d}.{end}" for step in (9, 10, 100) for end in ("json", "pt")]
    assert found_step(tmp_path) == 100
    about = json.loads((tmp_path / "step-00000100.json").read_text())
    assert about["epoch"] == 1
    assert about["bytes"] == (tmp_path / "step-00000100.pt").stat().st_size


def test_an_empty_or_missing_folder_has_none(tmp_path: Path) -> None:
    assert found_step(tmp_path) is None
    assert found_step(tmp_path / "nowhere") is None


def tear(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def other_json(path: Path) -> None:
    path.write_text('["not", "an", "object"]')


@pytest.mark.parametrize(
    ("ending", "damage"),
    [
        ("pt", tear),
        ("pt", flip_a_bit),
        ("pt", Path.unlink),
        ("json", tear),
        ("json", Path.unlink),
        ("json", other_json),
    ],
)
def test_a_damaged_checkpoint_is_passed_over(
    tmp_path: Path, ending: str, damage: object, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path, 5)
    save(tmp_path, 10)
    assert callable(damage)
    path = tmp_path / f"step-00000010.{ending}"
    damage(path)
    assert found_step(tmp_path) == 5
    assert ("Passing over" in capsys.readouterr().out) == (tmp_path / "step-00000010.json").exists()


def test_a_crash_while_writing_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, 5)

    def fail(_self: Path, _target: Path) -> Path:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(UsageError, match=r"cannot write a checkpoint to .*: disk full"):
        save(tmp_path, 10)
    assert found_step(tmp_path) == 5


def test_code_in_a_checkpoint_is_not_run(tmp_path: Path) -> None:
    checkpoint.save(tmp_path, 1, {"weights": tmp_path}, {})  # a Path would need its class
    assert checkpoint.load_newest(tmp_path) is None


def test_a_new_start_forgets_all_checkpoints(tmp_path: Path) -> None:
    save(tmp_path, 5)
    checkpoint.delete_all(tmp_path)
    assert list(tmp_path.iterdir()) == []
