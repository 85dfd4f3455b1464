"""Where the tests that run mypy keep its cache: the standard library and the runtime are read once."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def mypy_cache(options: str = "") -> str:
    """A folder of this process of pytest alone; mypy itself notices files that have changed. Runs with other
    options need one of their own, by a name for them, since each would throw away what the other has kept.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
    return str(ROOT / "build" / "mypy" / f"{worker}{options and '-'}{options}")
