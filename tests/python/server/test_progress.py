"""How long a server waits for the rest of a frame, in virtual time (docs/limits.md)."""

import asyncio

import mf
from mf.protocol import frame
from mf.protocol.handshake import Hello
from mf.server.connection import PROGRESS_TIMEOUT
from mf.testing.clock import FakeClock
from mf.testing.loop import VirtualLoop, run
from mf.testing.network import MemoryNetwork, MemoryStream
from mf.transport.address import Address

HELLO = frame.pack(frame.HELLO, Hello(nonce=bytes(16), client_id=1).pack())
PING = frame.pack(frame.PING, bytes(8))


def what_came(stream: MemoryStream) -> bytes:
    into = bytearray(1 << 16)
    return bytes(into[: stream.read_now(memoryview(into))])


def test_a_frame_is_not_taken_for_an_earlier_one_that_has_ended() -> None:
    network = MemoryNetwork(FakeClock())

    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        server = mf.AsyncServer("tcp://server:1", open=True)
        await server.start()
        peer = await network.connect(Address.parse("tcp://peer-server:1"))
        assert isinstance(peer, MemoryStream)
        peer.write_now([HELLO])
        await asyncio.sleep(1.0)
        assert what_came(peer)
        begun = loop.time()
        peer.write_now([PING[:5]])
        await asyncio.sleep(1.0)
        peer.write_now([PING[5:]])
        await asyncio.sleep(PROGRESS_TIMEOUT - 1.5)
        assert what_came(peer)
        peer.write_now([PING[:5]])
        await asyncio.sleep(1.0)
        assert loop.time() - begun > PROGRESS_TIMEOUT
        peer.write_now([PING[5:]])
        await asyncio.sleep(1.0)
        assert what_came(peer)
        # A frame that does not end is not awaited.
        peer.write_now([PING[:5]])
        await asyncio.sleep(3 * PROGRESS_TIMEOUT)
        assert peer.readable()
        peer.close()
        await server.stop()

    run(main(), network)
