"""Replace the secret key. Everything stays readable if this is interrupted, because old keys are
removed last, when nothing needs them."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from config import env
from config.upkeep.errors import UpkeepError
from config.upkeep.stopped import keep_stopped
from core.database import rotation

CHANGE_ENVIRONMENT = (
    "The key comes from TRAINYARD_SECRET_KEY, which only you can change. Set it to a new key and "
    "TRAINYARD_SECRET_KEY_FALLBACKS to the old one, restart every process of Trainyard, and run "
    "this command again. A new key:  {}"
)


@dataclass(frozen=True)
class Rotation:
    """The result of a rotation."""

    rewritten: int
    lost: int  # secrets that could not be read before either
    continued: bool = False  # it completed an interrupted rotation


def rotate() -> Rotation:
    """Replace the secret key. Raises ``UpkeepError`` if the environment has to be changed first,
    or if Trainyard runs with keys from the file."""
    if env.is_key_in_environment():
        if not settings.SECRET_KEY_FALLBACKS:
            raise UpkeepError(CHANGE_ENVIRONMENT.format(env.new_key()))
        return _reencrypt(continued=False)
    with keep_stopped():
        return _rotate_file(Path(settings.HOME) / "secret_key")


def _rotate_file(path: Path) -> Rotation:
    """Replace the key in the file, or complete an interrupted rotation if the file has several
    keys. The file is read again, because another rotation may have ended before this one got the
    lock."""
    keys = env.read_keys(path)
    continued = len(keys) > 1
    if not continued:
        keys = [env.new_key(), *keys]
        env.write_keys(path, keys)
    settings.SECRET_KEY = keys[0]
    settings.SECRET_KEY_FALLBACKS = [*keys[1:], *env.secret_keys(path.parent)[1:]]
    result = _reencrypt(continued)
    env.write_keys(path, keys[:1])
    return result


def _reencrypt(continued: bool) -> Rotation:
    result = rotation.reencrypt_all()
    if result.left:
        raise UpkeepError(
            f"Secrets written with the old key meanwhile: {result.left}. A process runs that does "
            "not have the new key. Restart every process and run this command again."
        )
    return Rotation(result.rewritten, result.lost, continued)
