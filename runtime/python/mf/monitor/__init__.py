"""Metrics as text, and the HTTP door that serves them (docs/observability.md)."""

from typing import TYPE_CHECKING, Any

from mf.core.exposition import Exposition, Kind

if TYPE_CHECKING:
    from mf.monitor.door import Door, Source
else:

    def __getattr__(name: str) -> Any:
        """Servers without a monitor do not load http.server."""
        if name not in ("Door", "Source"):
            raise AttributeError(f"module 'mf.monitor' has no attribute {name!r}")
        from mf.monitor import door

        return getattr(door, name)


__all__ = ["Door", "Exposition", "Kind", "Source"]
