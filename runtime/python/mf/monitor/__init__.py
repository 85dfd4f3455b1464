"""Metrics as text, and the HTTP door that serves them (docs/observability.md)."""

from mf.core.exposition import Exposition, Kind

__all__ = ["Exposition", "Kind"]
