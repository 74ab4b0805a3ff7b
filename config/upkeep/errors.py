"""Why an archive or a key cannot be made or used."""


class UpkeepError(Exception):
    """Nothing was changed, unless the message says so; it is for who typed the command."""
