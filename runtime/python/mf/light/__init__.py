"""R5. Calls inside one process: no connection, no serialization."""

from mf.light.light import Light

__all__ = ["Light"]
