"""R7. Where the floors are put together: what an address in a program stands for."""

from mf.app.client import Client
from mf.app.server import Server

__all__ = ["Client", "Server"]
