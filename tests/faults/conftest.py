"""The servers and clients of the interop suite, for tests that do them harm."""

from tests.interop.peers import peers, stubs

__all__ = ["peers", "stubs"]
