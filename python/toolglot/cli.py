"""The command ``toolglot``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with ``argv`` (default: the process's arguments) and return its exit code."""
    argparse.ArgumentParser(prog="toolglot", description=__doc__).parse_args(argv)
    return 0


def entry() -> None:
    """The console script."""
    sys.exit(main())
