"""The servers and clients of the interop suite, for the tests that attack them."""

from tests.interop.peers import peers, stubs

__all__ = ["peers", "stubs"]
