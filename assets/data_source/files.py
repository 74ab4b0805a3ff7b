"""Files of a ConfigMap as a single text that people write: YAML, each name with its text."""

from typing import Any

import yaml

from core.forms.field import Values
from spec.formats.documents import to_yaml

FILES = "files"
EXAMPLE = "train.yaml: |\n  lr: 0.1"
FORMAT_HINT = (
    "Write each name with its text: train.yaml: |, and below it the text, each line indented by "
    "two spaces."
)


def parse_texts(text: object) -> dict[str, str] | None:
    """Return the texts by name; ``None`` if the YAML does not map names to texts."""
    try:
        data = yaml.safe_load(str(text or ""))
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):
        return None  # not YAML, or a value or depth that Python refuses
    data = {} if data is None else data
    is_text = isinstance(data, dict) and all(isinstance(it, str) for it in data.values())
    return {str(name): it for name, it in data.items()} if is_text else None


def unpack(item: Values) -> Values:
    """Return an item with its files as a text. Invalid files stay as they are."""
    files = item.get(FILES)
    if not isinstance(files, list) or not all(map(_is_file, files)):
        return item
    return {**item, FILES: to_yaml({file["name"]: file["content"] for file in files})}


def pack(item: Values) -> Values:
    """Return an item with the files of its text. An invalid text stays, for the spec to refuse."""
    rest = {key: value for key, value in item.items() if key != FILES}
    texts = parse_texts(item.get(FILES))
    if texts is None:
        return item
    files = [{"name": name, "content": text} for name, text in texts.items()]
    return rest | ({FILES: files} if files else {})


def _is_file(file: Any) -> bool:
    return isinstance(file, dict) and file.keys() == {"name", "content"}
