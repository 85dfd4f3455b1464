"""R5. Servers: their offers, and the way of requests to handlers."""

from mf.server.server import Registrar, Server

__all__ = ["Registrar", "Server"]
