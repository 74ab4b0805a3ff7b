"""Parse a kubeconfig, which comes from outside and may be anything."""

from typing import Any

import yaml


class UnfitYaml(ValueError):
    """The text is not a YAML mapping. Messages never quote the text, which may contain secrets."""


def parse_kubeconfig(text: str) -> dict[str, Any]:
    """Parse YAML. ``UnfitYaml`` if it is invalid, or not a mapping."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" Look at line {mark.line + 1}." if mark else ""
        raise UnfitYaml(f"It is not valid YAML.{where}") from error
    except RecursionError:
        raise UnfitYaml("Its YAML is nested too deeply.") from None
    except (ValueError, LookupError, AttributeError) as error:
        # such as a number with 5,000 digits, 40 May, or a word tagged as a boolean or a time
        raise UnfitYaml("Its YAML holds a number or a date that cannot be read.") from error
    if not isinstance(document, dict):
        raise UnfitYaml("Its YAML is not a mapping.")
    return document
