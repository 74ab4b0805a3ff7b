"""The error of backups, restores and new keys."""


class UpkeepError(Exception):
    """A message for the user of the command. Nothing was changed, unless it says so."""
