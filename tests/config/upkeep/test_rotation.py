"""A new key in the place of the old one, and everything readable whenever it is interrupted."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError
from pytest_django import Settings

from clusters.models import Connection
from config import env
from config.run.home import Home
from config.upkeep.errors import UpkeepError
from config.upkeep.rotation import rotate
from core.database.fields import decrypt, is_under_first_key
from tests.config.upkeep.places import Place
from tests.factories import ClusterFactory

pytestmark = pytest.mark.django_db
Places = Callable[[str], Place]
SECRETS = ["first", "second", "third"]


@pytest.fixture
def home(place: Places) -> Path:
    folder = place("home").home
    for secret in SECRETS:
        Connection.objects.create(cluster=ClusterFactory(), secret_json=secret)
    Connection.objects.create(cluster=ClusterFactory())  # without a secret
    return folder


def start_again(home: Path, settings: Settings) -> None:
    """What a new process reads."""
    settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS = env.secret_keys(home)


def secrets() -> list[str]:
    return sorted(filter(None, Connection.objects.values_list("secret_json", flat=True)))


def test_the_new_key_alone_reads_everything(home: Path, settings: Settings) -> None:
    old = settings.SECRET_KEY
    result = rotate()
    assert (result.rewritten, result.lost, result.continued) == (3, 0, False)
    start_again(home, settings)
    assert (old != settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS) == (True, [])
    assert secrets() == SECRETS
    assert (home / "secret_key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("step", range(11))
def test_everything_is_readable_after_an_interruption_and_the_next_rotation_ends_it(
    home: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    old = settings.SECRET_KEY
    steps = iter(range(11))

    def counted(work: Callable[..., object]) -> Callable[..., object]:
        def work_or_die(*arguments: object) -> object:
            if next(steps) == step:
                raise KeyboardInterrupt
            return work(*arguments)

        return work_or_die

    with monkeypatch.context() as patch:
        patch.setattr(env, "write_keys", counted(env.write_keys))
        patch.setattr("core.database.rotation.decrypt", counted(decrypt))
        patch.setattr("core.database.rotation.is_under_first_key", counted(is_under_first_key))
        with pytest.raises(KeyboardInterrupt):
            rotate()
    start_again(home, settings)
    assert secrets() == SECRETS
    first = settings.SECRET_KEY
    assert rotate().continued == (step > 0)
    start_again(home, settings)
    assert secrets() == SECRETS
    assert (first == settings.SECRET_KEY) == (step > 0), "a new key is made once"
    assert old not in env.secret_keys(home)


def test_keys_of_a_file_change_only_while_trainyard_is_stopped(home: Path) -> None:
    running = Home(home)
    running.lock()
    before = env.secret_keys(home)
    with pytest.raises(UpkeepError, match="Trainyard runs"):
        rotate()
    running.release()
    assert env.secret_keys(home) == before


def test_an_old_key_stays_while_somebody_writes_with_it(
    home: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(token: str) -> str:
        """A process that was not started again saves something."""
        monkeypatch.setattr("core.database.rotation.decrypt", decrypt)
        new = settings.SECRET_KEY
        settings.SECRET_KEY = settings.SECRET_KEY_FALLBACKS[0]
        Connection.objects.create(cluster=ClusterFactory(), secret_json="late")
        settings.SECRET_KEY = new
        return decrypt(token)

    monkeypatch.setattr("core.database.rotation.decrypt", meanwhile)
    with pytest.raises(UpkeepError, match="Secrets written with the old key meanwhile: 1"):
        rotate()
    start_again(home, settings)
    assert secrets() == sorted([*SECRETS, "late"])
    assert rotate().continued
    start_again(home, settings)
    assert secrets() == sorted([*SECRETS, "late"])


def test_texts_that_no_key_reads_are_counted_and_left(home: Path, settings: Settings) -> None:
    kept = settings.SECRET_KEY
    settings.SECRET_KEY = "k" * 50
    Connection.objects.create(cluster=ClusterFactory(), secret_json="lost")
    settings.SECRET_KEY = kept
    assert rotate().lost == 1


def test_a_key_of_the_environment_is_changed_there_first(
    home: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TRAINYARD_SECRET_KEY", settings.SECRET_KEY)
    with pytest.raises(UpkeepError, match="TRAINYARD_SECRET_KEY_FALLBACKS to the old one"):
        rotate()
    monkeypatch.setenv("TRAINYARD_SECRET_KEY_FALLBACKS", settings.SECRET_KEY)
    monkeypatch.setenv("TRAINYARD_SECRET_KEY", "n" * 50)
    start_again(home, settings)
    assert secrets() == SECRETS
    call_command("rotate_key")
    assert "encrypted with the new key: 3." in capsys.readouterr().out
    monkeypatch.delenv("TRAINYARD_SECRET_KEY_FALLBACKS")
    start_again(home, settings)
    assert secrets() == SECRETS


def test_a_database_that_does_not_answer_is_told_in_words(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rewrite() -> None:
        raise OperationalError("no such table")

    monkeypatch.setattr("core.database.rotation.reencrypt_all", rewrite)
    with pytest.raises(CommandError, match="no such table"):
        call_command("rotate_key")
    assert len(env.secret_keys(home)) == 2, "nothing is lost: both keys stay"
