"""Configuration per model, from a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ._core import Config
from .errors import BadOptionError

__all__ = ["load_config"]


def load_config(path: Any) -> Config:
    """Read a configuration from a file of JSON, TOML or YAML, by its file extension.

    YAML takes ``PyYAML``; TOML takes ``tomli`` before Python 3.11.

    Raises:
        BadOptionError: The file cannot be read as what its ending says, or a setting in it is not known.
        OSError: The file cannot be opened.
    """
    file = Path(path)
    text = file.read_text("utf-8")
    ending = file.suffix.lower()
    if ending not in (".json", ".toml", ".yaml", ".yml"):
        raise BadOptionError(f"a configuration is a file of JSON, TOML or YAML, not {file.name}", "path")
    try:
        settings = _read(ending, text)
    except ImportError as error:
        raise BadOptionError(f"{file.name} cannot be read without {error.name}: install it", "path") from error
    except ValueError as error:
        raise BadOptionError(f"{file.name} cannot be read: {error}", "path") from error
    return Config({} if settings is None else settings)


def _read(ending: str, text: str) -> Any:
    if ending == ".json":
        return json.loads(text)
    if ending == ".toml":
        if sys.version_info >= (3, 11):
            import tomllib
        else:
            import tomli as tomllib
        return tomllib.loads(text)
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(error) from error
