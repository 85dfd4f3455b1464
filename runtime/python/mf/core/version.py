"""R0. The version of this runtime, of which programs tell by logs and metrics."""

from importlib.metadata import PackageNotFoundError, version


def runtime_version() -> str:
    """'unknown' for a copy that was not installed."""
    try:
        return version("mf-runtime")
    except PackageNotFoundError:
        return "unknown"
