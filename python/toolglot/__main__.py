"""``python -m toolglot``."""

from .cli import entry

if __name__ == "__main__":
    entry()
