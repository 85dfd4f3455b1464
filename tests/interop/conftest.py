"""The processes of the interop suite, for every test here."""

from tests.interop.peers import peers, stubs

__all__ = ["peers", "stubs"]
