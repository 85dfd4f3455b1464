#!/usr/bin/env python3
"""mfidlc, installed by CMake or as a package: its Python packages are in lib/mfidl beside bin."""

import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 (any Python may run this)
    sys.exit(
        f"mfidlc: this is Python {sys.version.split()[0]}, and mfidlc needs 3.11 or newer: install it"
        " (Debian 12: apt-get install python3), or put it first on PATH"
    )
sys.dont_write_bytecode = True  # it is installed with the bytecode; nothing else is ever written there
sys.path[0] = str(Path(__file__).resolve().parents[1] / "lib/mfidl")

from mfidl.cli import main  # noqa: E402

main()
