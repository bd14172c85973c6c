"""``python -m toolglot``."""

from .cli import entry

entry()
