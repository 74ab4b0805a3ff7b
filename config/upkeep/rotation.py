"""A new key in the place of the old one. Wherever it is interrupted, all stays readable: old keys
go last, once nothing needs them."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from config import env
from config.upkeep.errors import UpkeepError
from config.upkeep.stopped import stopped
from core.database import rotation

HOW = (
    "The key comes from TRAINYARD_SECRET_KEY, which only you can change. Set it to a new key and "
    "TRAINYARD_SECRET_KEY_FALLBACKS to the old one, restart every process of Trainyard, and run "
    "this command again. A new key:  {}"
)


@dataclass(frozen=True)
class Rotation:
    """What was done."""

    rewritten: int
    lost: int  # texts that could not be read before either
    continued: bool = False  # one that was cut short


def rotate() -> Rotation:
    """``UpkeepError`` where the environment has to be changed first, or where Trainyard runs with
    keys of the file."""
    if env.key_is_given():
        if not settings.SECRET_KEY_FALLBACKS:
            raise UpkeepError(HOW.format(env.new_key()))
        return _rewritten(continued=False)
    with stopped():
        return _rotate_file(Path(settings.HOME) / "secret_key")


def _rotate_file(path: Path) -> Rotation:
    """More than one key in it is a rotation that was cut short, and is brought to its end. The file
    is read anew: until the lock was ours another rotation may have ended."""
    keys = env.keys_of(path)
    continued = len(keys) > 1
    if not continued:
        keys = [env.new_key(), *keys]
        env.write_keys(path, keys)
    settings.SECRET_KEY = keys[0]
    settings.SECRET_KEY_FALLBACKS = [*keys[1:], *env.secret_keys(path.parent)[1:]]
    result = _rewritten(continued)
    env.write_keys(path, keys[:1])
    return result


def _rewritten(continued: bool) -> Rotation:
    result = rotation.rewrite()
    if result.left:
        raise UpkeepError(
            f"Secrets written with the old key meanwhile: {result.left}. A process runs that does "
            "not have the new key. Restart every process and run this command again."
        )
    return Rotation(result.rewritten, result.lost, continued)
