"""Commands to sign in and out. A password is asked for, or read; it is never on a command line."""

import getpass
import os
import shlex
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from datetime import datetime, timedelta, timezone
from enum import Enum
from functools import partial
from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated
from urllib.parse import SplitResult, urlsplit

import typer

from trainyard_cli import __version__
from trainyard_cli.errors import CliError, ExitCode, wrong_use
from trainyard_cli.invocation import SET_PROJECT, Output, current_invocation
from trainyard_cli.notes import LogLevel, print_note
from trainyard_cli.rest import profile
from trainyard_cli.rest.profile import DEFAULT_SERVER, Profile
from trainyard_cli.show import Item, print_document, print_facts

if TYPE_CHECKING:
    from trainyard_cli.rest.client import RestClient

LOCAL = {"127.0.0.1", "localhost", "::1"}
LONGEST_NAME = 63
KEY_DAYS = 90  # life of an access key; then sign in again
BEGIN_BY_CODE = "/device-sign-ins"
COLLECT_KEY = "/device-sign-ins/key"
PIPE_IT = "Pass it on standard input with --password-stdin, or in TRAINYARD_PASSWORD."


def add(app: typer.Typer, _: Sequence[str]) -> None:
    """Add the commands."""
    app.command()(login)
    app.command()(logout)
    app.command()(whoami)
    app.command()(version)


class SignInWay(str, Enum):
    """Words that Run:ai's command line has after ``login``. Flags replace them here."""

    USER = "user"
    SSO = "sso"
    APPLICATION = "application"


def _refuse_password(password: str | None) -> None:
    """Refuse ``--password``: other users of a machine see its command lines."""
    if password is not None:
        raise typer.BadParameter(
            "a password does not belong on a command line, where others see it; leave it out to be "
            "asked, or use --password-stdin or TRAINYARD_PASSWORD"
        )


def login(
    context: typer.Context,
    way: Annotated[SignInWay | None, typer.Argument(hidden=True)] = None,
    server: Annotated[
        str, typer.Option(help="Address of Trainyard; also TRAINYARD_SERVER.", show_default=False)
    ] = "",
    user: Annotated[
        str, typer.Option("--user", "-u", help="Sign in with a password.", show_default=False)
    ] = "",
    password_stdin: Annotated[
        bool, typer.Option(help="Read the password from standard input.")
    ] = False,
    password: Annotated[
        str | None, typer.Option("--password", "-p", hidden=True, callback=_refuse_password)
    ] = None,
) -> None:
    """Sign in, by a code in the browser or with a password.

    Without --user it prints an address and a code: open it where you are signed in, and approve.

    With --user the password is asked for, or taken from standard input or TRAINYARD_PASSWORD.

    It keeps an access key of this machine in a file that only you can read.

    Programs have their own key: TRAINYARD_SERVER, TRAINYARD_CLIENT_ID, TRAINYARD_CLIENT_SECRET.
    """
    by_password = _is_by_password(way, bool(user) or password_stdin)
    old = profile.load(current_invocation(context).config)
    address = _parse_address(server or old.server or _ask("Server", "--server", DEFAULT_SERVER))
    new = Profile(old.path, server=address)
    client = current_invocation(context).connect(new)
    if by_password:
        name = user or (old.user if old.server == address else "") or _ask("User name", "-u")
        key = _sign_in_by_password(client, name, _read_password(from_stdin=password_stdin))
    else:
        key = _sign_in_by_code(client, _key_name())
        name = key["username"]
    _save_sign_in(old, new, name, key)
    _announce(old, new)
    _suggest_project(client, new)


def _sign_in_by_code(client: "RestClient", title: str) -> Item:
    """Print an address and a code, wait for the approval, and return the new access key.

    The key is that of the person who approves it, and has their ``username``. ``title`` names this
    machine there. Raises ``CliError`` if nobody approves in time.
    """
    begun = client.open_post(BEGIN_BY_CODE, {"name": title})
    print(f"Open   {begun['verificationUriComplete']}", file=sys.stderr)
    print(f"and approve the code {begun['userCode']}", file=sys.stderr, flush=True)
    ends = monotonic() + begun["expiresIn"]
    while monotonic() < ends:
        answer: Item = client.open_post(COLLECT_KEY, {"deviceCode": begun["deviceCode"]})
        if "clientSecret" in answer:
            return answer
        sleep(begun["interval"])
    raise CliError("Nobody approved the code in time.", "Try again.", code=ExitCode.SIGNED_OUT)


def _announce(old: Profile, new: Profile) -> None:
    print_note(f"Signed in to {new.server} as {new.user}.")
    if old.from_environment:
        names = " and ".join(profile.KEY_VARIABLES)
        print_note(f"Note: {names} win over this sign-in; unset them.", LogLevel.WARN)


def _save_sign_in(old: Profile, new: Profile, name: str, key: Item) -> None:
    """Save the new sign-in. One of the same user at the same server keeps its project, and its old
    key is deleted."""
    new.user = name
    new.key_id = key["id"]
    new.client_id = key["clientId"]
    new.client_secret = key["clientSecret"]
    # the next token comes from the key, and ends with it
    new.token = ""
    new.expires = 0.0
    if (old.server, old.user) == (new.server, name):
        new.project = old.project
        _delete_old_key(old)
    new.save()


def _is_by_password(way: SignInWay | None, has_one: bool) -> bool:
    """Whether to sign in with a password. Raises ``CliError`` for a program, which needs no
    sign-in."""
    if way is SignInWay.APPLICATION:
        todo = f"Put its key into {', '.join(profile.VARIABLES.values())}."
        raise wrong_use("A program needs no sign-in.", todo)
    if way is None:
        return has_one or bool(os.environ.get("TRAINYARD_PASSWORD"))
    return way is SignInWay.USER


def _key_name() -> str:
    return f"trainyard on {socket.gethostname()}"[:LONGEST_NAME]


def _sign_in_by_password(client: "RestClient", name: str, password: str) -> Item:
    """Sign in with a password, and return a new access key for this machine. Raises
    ``CliError``."""
    try:
        client.sign_in({"grantType": "password", "username": name, "password": password})
    except CliError as error:
        if error.code != ExitCode.SIGNED_OUT:
            raise
        message = "The user name or the password is wrong."
        todo = f"Try again: trainyard login --user {shlex.quote(name)}"
        raise CliError(message, todo, code=ExitCode.SIGNED_OUT) from error
    ends = datetime.now(timezone.utc) + timedelta(days=KEY_DAYS)
    key: Item = client.post("/access-keys", {"name": _key_name(), "expiresAt": ends.isoformat()})
    return key


def _parse_address(text: str) -> str:
    """Return the server's address, with https:// unless it says otherwise. Warns about http:// to
    another machine. Raises ``CliError``."""
    address = (text if "://" in text else f"https://{text}").rstrip("/")
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not _has_port(parts):
        raise wrong_use(f"{text} is not an address; write one like {DEFAULT_SERVER}")
    if parts.scheme == "http" and parts.hostname not in LOCAL:
        print_note("Note: http:// sends the password unencrypted; prefer https://.", LogLevel.WARN)
    return address


def _has_port(parts: SplitResult) -> bool:
    """Whether the port of an address is valid. No port is valid, too."""
    try:
        return parts.port != 0
    except ValueError:
        return False


def _ask(what: str, option: str, default: str = "") -> str:
    """Ask for something on a terminal, and return the answer or the default. Raises ``CliError`` if
    there is neither."""
    todo = f"Pass it: trainyard login {option} {what.split()[-1].upper()}"
    if not sys.stdin.isatty():
        if default:
            return default
        raise wrong_use(f"{what} is missing.", todo)
    answer = _read_answer(partial(input, f"{what} [{default}]: " if default else f"{what}: "))
    if answer is not None and (answer := answer.strip() or default):
        return answer
    raise wrong_use(f"No {what.lower()} was entered; nothing was changed.", todo)


def _read_password(*, from_stdin: bool) -> str:
    """Return the password: from standard input, from the environment, or by asking. Raises
    ``CliError``."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if password := os.environ.get("TRAINYARD_PASSWORD"):
        return password
    if not sys.stdin.isatty():
        raise wrong_use("There is no terminal to ask for the password.", PIPE_IT)
    if answer := _read_answer(partial(getpass.getpass, "Password: ")):
        return answer
    raise wrong_use("No password was entered; nothing was changed.", PIPE_IT)


def _read_answer(ask: Callable[[], str]) -> str | None:
    """Ask, and return the answer. After Ctrl-D, print the missing line break and return
    ``None``."""
    try:
        return ask()
    except EOFError:
        print(file=sys.stderr)
        return None


def _delete_old_key(old: Profile) -> None:
    """Delete the key of an earlier sign-in, because nobody will use it again."""
    from trainyard_cli.rest.client import RestClient

    if not old.key_id or old.from_environment:
        return
    client = RestClient(old)
    with closing(client.http), suppress(CliError):  # it may have expired, or be deleted
        client.delete(f"/access-keys/{old.key_id}")


def _suggest_project(client: "RestClient", sign_in: Profile) -> None:
    """Print which project is set. Someone with only one project gets that one; everyone else gets a
    hint."""
    if sign_in.project:
        print_note(f"Project: {sign_in.project['name']}")
        return
    projects = list(client.pages("/org-unit/projects", "projects"))
    if len(projects) != 1:
        print_note(SET_PROJECT)
        return
    sign_in.project = {key: projects[0][key] for key in ("id", "name", "clusterId")}
    sign_in.save()
    print_note(f"Project: {sign_in.project['name']}, the only one you have.")


def logout(context: typer.Context) -> None:
    """Delete the key of this machine, here and at Trainyard."""
    stored = profile.load(current_invocation(context).config)
    if stored.from_environment or not stored.is_signed_in:
        print_note("You are not signed in by a file; nothing was changed.")
        return
    try:
        if stored.key_id:
            current_invocation(context).client.delete(f"/access-keys/{stored.key_id}")
    except CliError as error:
        if error.code not in {ExitCode.NOT_FOUND, ExitCode.SIGNED_OUT}:
            raise
    Profile(stored.path, server=stored.server, user=stored.user).save()
    print_note(f"Signed out of {stored.server}.")


def whoami(context: typer.Context, output: Output = None) -> None:
    """Who is signed in, where, and in which project."""
    client = current_invocation(context).client
    me = client.get("/me")
    stored = client.profile
    key = me["accessKey"] or {}
    values = {
        "user": me["username"],
        "server": stored.server,
        "project": stored.project.get("name", ""),
        "role": me["role"],
        "keyEndsAt": key.get("expiresAt"),
    }
    if output == "name":
        print(values["user"])
    elif not print_document(values, output):
        ends = str(values.pop("keyEndsAt") or "never")[:10]
        print_facts(
            [*((name.capitalize(), value) for name, value in values.items()), ("Key ends", ends)]
        )


def version(context: typer.Context) -> None:
    """Print the version of this program, and of Trainyard where someone is signed in."""
    print(f"trainyard {__version__}")
    try:
        if profile.load(current_invocation(context).config).is_signed_in:
            client = current_invocation(context).client
            print(f"Trainyard {client.get('/version')['version']} at {client.profile.server}")
    except CliError as error:
        if error.code not in {ExitCode.SIGNED_OUT, ExitCode.UNREACHABLE}:
            raise
        print_note(str(error), LogLevel.WARN)  # the version that was asked for is already printed
