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
_packages = Path(__file__).resolve().parents[1] / "lib/mfidl"
for _name in ("antlr4", "click", "google/protobuf", "jinja2", "markupsafe", "mf", "mfidl", "mfidl/templates"):
    if not (_packages / _name).is_dir():
        sys.exit(
            f"mfidlc: it is installed in part only, without {_packages / _name}: install it again"
            " (cmake --install, or apt-get install --reinstall mfidlc)"
        )
sys.path[0] = str(_packages)

from mfidl.cli import main  # noqa: E402

main()
