"""Where the build of this tree has the module of the native codec (runtime/python-native)."""

import os
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]


def module_folder() -> Path:
    """The folder to import `_mf_native` from, which `make build-release` fills."""
    build = Path(os.environ.get("MF_BUILD_DIR", _ROOT / "build" / "release"))
    return build / "runtime" / "python-native" / "module"
