"""Settings come from the environment; a wrong one is refused by its name."""

import os
import stat
import tempfile
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import embedded
from config.env import (
    env_bool,
    env_database,
    env_datasets,
    env_int,
    env_list,
    env_pairs,
    env_str,
    secret_keys,
)


@pytest.mark.parametrize("value", ["1", "on", "true", "yes", "ON", " yes "])
def test_a_setting_is_switched_on_by_each_word_for_yes(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("SWITCH", value)
    assert env_bool("SWITCH", default=False) is True


@pytest.mark.parametrize("value", ["0", "off", "false", "no"])
def test_a_setting_is_switched_off_by_each_word_for_no(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("SWITCH", value)
    assert env_bool("SWITCH", default=True) is False


@pytest.mark.parametrize("value", ["", "   "])
def test_an_empty_setting_means_the_default(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("GIVEN", value)
    assert env_str("GIVEN", "fallback") == "fallback"
    assert env_bool("GIVEN", default=True) is True
    assert env_int("GIVEN", 4) == 4
    assert env_list("GIVEN", "a, b") == ["a", "b"]


def test_pairs_are_read_and_a_wrong_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env_pairs("PAIRS") == {}
    monkeypatch.setenv("PAIRS", "a=1, b = x=y")
    assert env_pairs("PAIRS") == {"a": "1", "b": "x=y"}
    for wrong in ("a", "a=", "=1"):
        monkeypatch.setenv("PAIRS", f"b=2,{wrong}")
        with pytest.raises(ImproperlyConfigured, match=f"PAIRS has '{wrong}'"):
            env_pairs("PAIRS")


def test_a_wrong_switch_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWITCH", "perhaps")
    with pytest.raises(ImproperlyConfigured, match="SWITCH is 'perhaps'; use on or off"):
        env_bool("SWITCH", default=False)


def test_a_wrong_number_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNT", "four")
    with pytest.raises(ImproperlyConfigured, match="COUNT is 'four'; use a whole number"):
        env_int("COUNT", 1)


def test_a_number_that_is_too_small_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNT", "-5")
    with pytest.raises(ImproperlyConfigured, match="COUNT is '-5'; use 0 or more"):
        env_int("COUNT", 1)
    monkeypatch.setenv("COUNT", "0")
    with pytest.raises(ImproperlyConfigured, match="COUNT is '0'; use 1 or more"):
        env_int("COUNT", 1, least=1)


def test_the_default_database_is_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    database = env_database("DATABASE_URL", default=tmp_path / "trainyard.sqlite3")
    assert database["ENGINE"] == "django.db.backends.sqlite3"
    assert database["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert database["NAME"] == str(tmp_path / "trainyard.sqlite3")


def test_a_database_url(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(
        "DATABASE_URL", "postgresql://me:p%40ss@db.example:5433/trainyard?sslmode=require"
    )
    database = env_database("DATABASE_URL", default=tmp_path / "unused")
    assert database == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "trainyard",
        "USER": "me",
        "PASSWORD": "p@ss",
        "HOST": "db.example",
        "PORT": "5433",
        "OPTIONS": {"sslmode": "require"},
    }


def test_a_database_behind_a_socket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://me@/trainyard?host=/run/Socket")
    assert env_database("DATABASE_URL", default=tmp_path)["HOST"] == "/run/Socket"


def test_an_unknown_database_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DATABASE_URL", "mysql://localhost/trainyard")
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL must start with postgresql://"):
        env_database("DATABASE_URL", default=tmp_path)


def test_the_secret_key_is_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TRAINYARD_SECRET_KEY", raising=False)
    (key,) = secret_keys(tmp_path)
    assert len(key) > 40
    assert secret_keys(tmp_path) == [key]
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


def test_a_long_folder_still_has_a_short_socket(tmp_path: Path) -> None:
    near = tmp_path / "home"
    far = tmp_path / ("deep" * 40)
    assert embedded.redis_url(Path("/data")) == "unix:///data/valkey.sock"
    assert len(str(embedded.socket_path(far))) < embedded.LONGEST_SOCKET_PATH
    assert embedded.socket_path(far) != embedded.socket_path(near)
    assert embedded.socket_path(far) == embedded.socket_path(far)


def test_no_other_user_can_put_a_broker_in_the_place_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    far = Path("/" + 100 * "x")
    own = tmp_path / f"trainyard-{os.getuid()}"
    assert embedded.socket_path(far).parent == own
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    own.chmod(0o777)
    with pytest.raises(ImproperlyConfigured, match="only this user can open"):
        embedded.socket_path(far)
    own.rmdir()
    own.symlink_to(tmp_path)
    with pytest.raises(ImproperlyConfigured, match="Remove it, or choose a shorter"):
        embedded.socket_path(far)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("", (Path("/home/data"), "")),
        ("/mnt/sets", (Path("/mnt/sets"), "")),
        ("s3://sets/kept/", (Path("/home/data"), "sets/kept")),
    ],
)
def test_datasets_are_kept_in_a_folder_or_in_a_bucket(
    monkeypatch: pytest.MonkeyPatch, value: str, found: tuple[Path, str]
) -> None:
    monkeypatch.setenv("DATASETS", value)
    assert env_datasets("DATASETS", Path("/home/data")) == found


@pytest.mark.parametrize("value", ["s3://", "s3://sets", "s3://A/kept"])
def test_a_bucket_for_datasets_needs_a_folder(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("DATASETS", value)
    with pytest.raises(ImproperlyConfigured, match="s3://bucket/folder"):
        env_datasets("DATASETS", Path("/home/data"))
