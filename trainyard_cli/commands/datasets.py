"""Commands for datasets, with the options and the output of OSMO's command line."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import typer

from trainyard_cli.errors import CliError, ExitCode, reason_of, wrong_use
from trainyard_cli.invocation import Invocation, current_invocation
from trainyard_cli.lookup import is_id
from trainyard_cli.osmo import TextOrJson, local_time, print_table
from trainyard_cli.show import Item

PATH = "/datasets"
PIECE = 2 * 1024 * 1024  # bytes sent at once
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
TYPE = "DATASET"

DatasetName = Annotated[str, typer.Argument(help="The name or the ID of a dataset.")]
DatasetTag = Annotated[
    str, typer.Argument(help="A dataset, such as mnist, or one of its versions, such as mnist:3.")
]
Pool = Annotated[
    str, typer.Option("--pool", "-p", help="The project; without one, the one that is set.")
]
Regex = Annotated[
    str, typer.Option("--regex", "-x", help="Only files whose path begins with this pattern.")
]
FormatType = Annotated[TextOrJson, typer.Option("--format-type", "-t", help="text or json.")]


def add(app: typer.Typer, _: Sequence[str]) -> None:
    """Add the commands."""
    group = typer.Typer(help="Datasets: files in versions.", no_args_is_help=True)
    group.command("list")(list_datasets)
    group.command("info")(info)
    group.command("upload")(upload)
    group.command("download")(download)
    group.command("delete")(delete)
    app.add_typer(group, name="dataset")


def list_datasets(
    context: typer.Context,
    count: Annotated[int, typer.Option("--count", "-c", help="How many.", min=1, max=500)] = 20,
    name: Annotated[str, typer.Option("--name", "-n", help="Only names that contain this.")] = "",
    pool: Annotated[
        str, typer.Option("--pool", "-p", help="Only those that this project can use.")
    ] = "",
    format_type: FormatType = TextOrJson.TEXT,
) -> None:
    """List datasets by name."""
    answer = current_invocation(context).client.get(
        PATH, limit=count, search=name or None, projectId=pool or None
    )
    if format_type is TextOrJson.JSON:
        print(json.dumps({"datasets": answer["datasets"]}, indent=2))
        return
    if not answer["datasets"]:
        print("There are no datasets to view.")
        return
    heads = [
        *("Bucket", "Name", "ID", "Created Date", "Last Version Created", "Last Version"),
        *("Storage Size", "Type"),
    ]
    rows = [
        [
            row["scope"],
            row["name"],
            row["id"],
            local_time(row["createdAt"]),
            local_time(row["latestVersionAt"]),
            str(row["latestVersion"] or "-"),
            size_text(row["size"]),
            TYPE,
        ]
        for row in answer["datasets"]
    ]
    print_table(heads, rows)


def info(
    context: typer.Context,
    name: DatasetName,
    pool: Pool = "",
    count: Annotated[
        int, typer.Option("--count", "-c", help="How many versions.", min=1, max=10_000)
    ] = 100,
    format_type: FormatType = TextOrJson.TEXT,
) -> None:
    """Show a dataset and its versions, the newest first."""
    invocation = current_invocation(context)
    answer = invocation.client.get(f"{PATH}/{find_dataset(invocation, name, pool)['id']}")
    answer["versions"] = answer["versions"][:count]
    if format_type is TextOrJson.JSON:
        print(json.dumps(answer, indent=2))
        return
    facts = {
        "Name": answer["name"],
        "ID": answer["id"],
        "Bucket": answer["scope"],
        "Type": TYPE,
        "Stored Size": size_text(answer["size"]),
    }
    lines = [f"{name:<11} : {value}" for name, value in facts.items()]
    print("=" * max(map(len, lines)))
    print("\n".join(lines))
    print()
    rows = [
        [
            str(version["number"] or "-"),
            version["status"],
            version["createdBy"],
            local_time(version["createdAt"]),
            size_text(version["size"]),
            str(version["files"]),
            version["workflow"] or "-",
        ]
        for version in answer["versions"]
    ]
    heads = ["Version", "Status", "Created By", "Created Date", "Size", "Files", "Workflow"]
    print_table(heads, rows)


def upload(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The name of a dataset; a new one is created.")],
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.")],
    pool: Pool = "",
    description: Annotated[
        str, typer.Option("--desc", "-d", help="What a new dataset contains.")
    ] = "",
    regex: Regex = "",
    format_type: FormatType = TextOrJson.TEXT,
) -> None:
    """Upload files as a new version. The content of a folder is stored, and a file by its name."""
    invocation = current_invocation(context)
    if ":" in name:
        raise wrong_use(f"{name} names a version.", "A new version gets its number automatically.")
    files = _matching(dict(_local_files(paths)), regex)
    if not files:
        raise wrong_use("There is no file to upload.")
    dataset = _find_or_create(invocation, name, pool, description)
    version = invocation.client.post(f"{PATH}/{dataset['id']}/versions")
    address = f"{PATH}/{dataset['id']}/versions/{version['id']}"
    for path, file in files.items():
        _send_file(invocation, f"{address}/pieces", path, file)
    finished = invocation.client.post(f"{address}/finish")
    if format_type is TextOrJson.JSON:
        print(json.dumps(finished, indent=2))
        return
    size = size_text(finished["size"])
    files_text = "1 file" if finished["files"] == 1 else f"{finished['files']} files"
    print(f"Dataset {dataset['name']}:{finished['number']} has {files_text}, {size}.")


def download(
    context: typer.Context,
    tag: DatasetTag,
    folder: Annotated[Path, typer.Argument(help="The folder that gets the files.")],
    pool: Pool = "",
    regex: Regex = "",
) -> None:
    """Download the files of a version, or of the latest one."""
    invocation = current_invocation(context)
    name, _, number = tag.partition(":")
    dataset = find_dataset(invocation, name, pool)
    version = number or "latest"
    address = f"{PATH}/{dataset['id']}/versions/{version}"
    listed = {file["path"]: file for file in invocation.client.pages(f"{address}/files", "files")}
    files = _matching(listed, regex)
    for path, file in files.items():
        _save_file(invocation, f"{address}/content", file, folder / PurePosixPath(path))
    size = size_text(sum(file["size"] for file in files.values()))
    print(f"Downloaded {len(files)} files, {size}, to {folder}.")


def delete(
    context: typer.Context,
    tag: DatasetTag,
    pool: Pool = "",
    every: Annotated[
        bool, typer.Option("--all", "-a", help="Delete the dataset with all of its versions.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", "-f", help="Do not ask.")] = False,
) -> None:
    """Delete a version, or with --all a dataset."""
    invocation = current_invocation(context)
    name, _, number = tag.partition(":")
    if bool(number) == every:
        raise wrong_use(f"Name a version, such as {name}:1, or give --all.")
    dataset = find_dataset(invocation, name, pool)
    what = f"{dataset['name']}:{number}" if number else f"{dataset['name']} and all of its versions"
    if not force:
        typer.confirm(f"Delete {what}?", abort=True)
    if number:
        invocation.client.delete(f"{PATH}/{dataset['id']}/versions/{number}")
    else:
        invocation.client.delete(f"/asset/datasource/dataset/{dataset['id']}")
    print(f"Deleted {what}.")


def find_dataset(invocation: Invocation, name: str, pool: str) -> Item:
    """Return a dataset by its name or id. Of several with this name, the one that the project can
    use; a project's own comes first."""
    found = _find(invocation, name, pool)
    if found is None:
        todo = "List them: trainyard dataset list"
        raise CliError(f"There is no dataset {name}.", todo, code=ExitCode.NOT_FOUND)
    return found


def _find(invocation: Invocation, name: str, pool: str) -> Item | None:
    if is_id(name):
        found: Item = invocation.client.get(f"{PATH}/{name}")
        return found
    rows: list[Item] = invocation.client.get(PATH, name=name)["datasets"]
    if len(rows) > 1 or pool:
        return _find_usable(invocation, name, pool)
    return rows[0] if rows else None


def _find_usable(invocation: Invocation, name: str, pool: str) -> Item | None:
    """Return the dataset with this name that a project can use, at first its own."""
    project = invocation.project(pool)
    query = {"name": name, "projectId": project["id"]}
    usable: list[Item] = invocation.client.get(PATH, **query)["datasets"]
    own = [row for row in usable if row["scope"] == f"Project {project['name']}"]
    return next(iter([*own, *usable]), None)


def _find_or_create(invocation: Invocation, name: str, pool: str, description: str) -> Item:
    dataset = _find_usable(invocation, name, pool)
    if dataset is not None:
        return dataset
    project = invocation.project(pool)
    body = {"name": name, "projectId": str(project["id"]), "description": description}
    created: Item = invocation.client.post(PATH, body)
    return created


def _local_files(paths: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Yield the path in the version, and the file on this machine."""
    for path in paths:
        if path.is_dir():
            for file in sorted(path.rglob("*")):
                if file.is_file():
                    yield file.relative_to(path).as_posix(), file
        elif path.is_file():
            yield path.name, path
        else:
            raise wrong_use(f"There is no file or folder {path}.")


def _matching(files: dict[str, Any], regex: str) -> dict[str, Any]:
    """Return the files whose path begins with a pattern, as OSMO matches it."""
    try:
        pattern = re.compile(regex)
    except re.error as error:
        raise wrong_use(f"{regex} is not a regular expression: {error}.") from error
    return {path: file for path, file in files.items() if pattern.match(path)}


def _send_file(invocation: Invocation, address: str, path: str, file: Path) -> None:
    try:
        with file.open("rb") as content:
            offset = 0
            # An empty file is one empty piece.
            while (piece := content.read(PIECE)) or offset == 0:
                invocation.client.send_bytes(address, piece, path=path, offset=offset)
                offset += len(piece)
                if len(piece) < PIECE:
                    return
    except OSError as error:
        raise wrong_use(f"{file} cannot be read: {reason_of(error)}.") from error


def _save_file(invocation: Invocation, address: str, file: Item, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as content:
            while content.tell() < file["size"]:
                data = invocation.client.read_bytes(
                    address, path=file["path"], offset=content.tell()
                )
                if not data:
                    raise CliError(f"{file['path']} is shorter than it was.", "Try again.")
                content.write(data)
    except OSError as error:
        raise wrong_use(f"{target} cannot be written: {reason_of(error)}.") from error


def size_text(size: float) -> str:
    """Return a number of bytes as people write it: ``1.5 MiB``."""
    unit = 0
    while size >= 1024 and unit < len(UNITS) - 1:
        size /= 1024
        unit += 1
    return f"{size:.1f} {UNITS[unit]}" if unit else f"{size:.0f} {UNITS[0]}"
