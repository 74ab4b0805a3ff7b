"""The text of a kubeconfig, which comes from outside and may be anything."""

from typing import Any

import yaml


class UnfitYaml(ValueError):
    """A text that is no YAML mapping. What it says never quotes the text, which may be secret."""


def read(text: str) -> dict[str, Any]:
    """The mapping that it is in YAML. ``UnfitYaml`` where it is none, or cannot be held."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" Look at line {mark.line + 1}." if mark else ""
        raise UnfitYaml(f"It is not valid YAML.{where}") from error
    except RecursionError:
        raise UnfitYaml("Its YAML is nested too deeply.") from None
    except (ValueError, LookupError, AttributeError) as error:
        # such as a number of 5,000 digits, the 40th of May, or a word tagged as a truth or a time
        raise UnfitYaml("Its YAML holds a number or a date that cannot be read.") from error
    if not isinstance(document, dict):
        raise UnfitYaml("Its YAML is not a mapping.")
    return document
