"""R5. Servers: what they offer, how requests reach handlers."""

from mf.server.server import Registrar, Server

__all__ = ["Registrar", "Server"]
