"""R5. Servers: what they offer, how requests reach handlers."""

from mf.server.current import CurrentCall, current_call
from mf.server.server import Registrar, Server

__all__ = ["CurrentCall", "Registrar", "Server", "current_call"]
