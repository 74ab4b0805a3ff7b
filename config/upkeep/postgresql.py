"""Back up and restore a PostgreSQL database with PostgreSQL's own programs.

They get the connection from libpq's environment variables, because everyone on the machine can read
a password on a command line.
"""

import os
import subprocess
from pathlib import Path
from typing import Any

from django.db import connection

from config.upkeep.archive import ArchivedFile
from config.upkeep.errors import UpkeepError

#: Variables of libpq that are not named after their parameter.
VARIABLES = {"connect_timeout": "PGCONNECT_TIMEOUT", "application_name": "PGAPPNAME"}
#: Fail if another session still uses the tables, instead of waiting for it.
PATIENCE = "-c lock_timeout=5s"
LAST_LINES = 5


class PostgresqlDatabase:
    """The PostgreSQL database of this installation."""

    kind = "PostgreSQL"
    part = "database.dump"

    def __init__(self, settings: dict[str, Any], scratch: Path) -> None:
        self.settings = settings
        self.dump = scratch / f".{self.part}.restored"
        self.script = self.dump.with_suffix(".sql")

    def __str__(self) -> str:
        return f"the database {self.settings['NAME']}"

    def is_empty(self) -> bool:
        return not connection.introspection.table_names()

    def save(self, target: Path) -> None:
        """Dump the database at one moment. Others may write meanwhile."""
        self._run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={target}")

    def stage(self, file: ArchivedFile) -> None:
        """Prepare the archive's database next to the current one. Raises ``UpkeepError`` if it
        cannot be read."""
        file.copy_to(self.dump)
        self.script.touch(mode=0o600)
        options = ["--no-owner", "--no-privileges", f"--file={self.script}"]
        self._run("pg_restore", *options, str(self.dump))

    def swap(self) -> None:
        """Replace the database in one transaction. Tables that only a later version has are dropped
        as well."""
        quote = connection.ops.quote_name
        tables = ", ".join(quote(name) for name in connection.introspection.table_names())
        drop = ["--command", f"DROP TABLE {tables} CASCADE"] if tables else []
        options = ["--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1"]
        self._run("psql", *options, *drop, "--file", str(self.script), PGOPTIONS=PATIENCE)

    def discard(self) -> None:
        self.dump.unlink(missing_ok=True)
        self.script.unlink(missing_ok=True)

    def _run(self, program: str, *arguments: str, **more: str) -> None:
        try:
            done = subprocess.run(
                [program, *arguments],
                env=os.environ | self.environment() | more,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        except FileNotFoundError as error:
            raise UpkeepError(
                f"{program} is missing. Install PostgreSQL's client programs, of the server's "
                "version or a later one: apt install postgresql-client"
            ) from error
        if done.returncode:
            message = "\n".join(done.stderr.strip().splitlines()[-LAST_LINES:])
            raise UpkeepError(f"{program} failed:\n{message}")

    def environment(self) -> dict[str, str]:
        names = {"NAME": "PGDATABASE", "USER": "PGUSER", "PASSWORD": "PGPASSWORD"}
        names |= {"HOST": "PGHOST", "PORT": "PGPORT"}
        variables = {variable: self.settings.get(name) for name, variable in names.items()}
        for option, value in self.settings.get("OPTIONS", {}).items():
            usual = f"PG{option.replace('_', '').upper()}"
            variables[VARIABLES.get(option, usual)] = value
        return {variable: str(value) for variable, value in variables.items() if value}
