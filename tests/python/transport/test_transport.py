"""Listening at ports, connecting, and the scripted stream."""

import os
import socket
import subprocess
import sys
import time

import pytest

from mf.transport import tcp
from mf.transport.address import Address
from mf.transport.inproc import pair
from mf.transport.memory import MemoryStream
from mf.transport.stream import drop_written


def test_a_taken_port_is_one_clear_sentence() -> None:
    first = tcp.listen(Address.parse("tcp://127.0.0.1:0"))
    port = first.getsockname()[1]
    try:
        with pytest.raises(OSError, match=rf"tcp://127\.0\.0\.1:{port} is taken by another program"):
            tcp.listen(Address.parse(f"tcp://127.0.0.1:{port}"))
    finally:
        first.close()


def test_an_unknown_host_is_one_clear_sentence() -> None:
    with pytest.raises(OSError, match=r"cannot listen on tcp://host\.invalid:0"):
        tcp.listen(Address.parse("tcp://host.invalid:0"))


def test_memory_stream_gives_its_script_and_fails_when_told() -> None:
    stream = MemoryStream([b"abcdef"], fail_after=3)
    window = memoryview(bytearray(4))

    assert stream.read(window) == 4
    assert stream.read(window) == 2
    assert stream.write_now([b"xy", b"z"]) == 3
    with pytest.raises(ConnectionResetError):
        stream.read(window)
    stream.close()


@pytest.mark.parametrize(
    ("written", "left"), [(0, b"abcdef"), (2, b"cdef"), (3, b"def"), (5, b"f"), (6, b"")]
)
def test_what_is_left_of_a_gather_list(written: int, left: bytes) -> None:
    assert b"".join(drop_written([b"ab", b"c", b"def"], written)) == left


def test_waiting_on_a_stream_that_was_closed_meanwhile_is_an_error_of_the_stream() -> None:
    stream, theirs = pair()
    stream.close()

    with pytest.raises(OSError, match="closed"):
        stream.wait(True, 0.0)
    theirs.close()


def test_a_connection_is_made_while_other_things_are_done() -> None:
    listener = tcp.listen(Address.parse("tcp://127.0.0.1:0"))
    port = listener.getsockname()[1]
    begun = tcp.Connecting(Address.parse(f"tcp://127.0.0.1:{port}"))
    refused = tcp.Connecting(Address.parse("tcp://127.0.0.1:1"))
    tcp.wait_for([begun, refused], 5.0)
    stream = begun.finish(time.monotonic() + 5)

    assert stream is not None
    assert stream.peer == f"tcp://127.0.0.1:{port}"
    with pytest.raises(ConnectionRefusedError):
        refused.finish(time.monotonic() + 5)
    stream.close()
    listener.close()


def test_the_client_can_be_imported_where_select_has_no_epoll() -> None:
    code = (
        "import os, random, select, socket\n"
        "for name in [each for each in dir(select) if each.lower().startswith('epoll')]:\n"
        "    delattr(select, name)\n"
        "for module, name in ((os, 'eventfd'), (os, 'EFD_NONBLOCK'), (os, 'EFD_CLOEXEC'),\n"
        "                     (os, 'register_at_fork'), (socket, 'MSG_DONTWAIT')):\n"
        "    delattr(module, name)\n"
        "import mf.client.client, mf.client.batch, mf.client.streams, mf.link.link\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_small_writes_leave_at_once_at_both_ends() -> None:
    listening = tcp.listen(Address("tcp", "127.0.0.1", 0))
    port = listening.getsockname()[1]
    ours = tcp.connect(Address("tcp", "127.0.0.1", port), 5.0)
    listening.settimeout(20)
    accepted, _ = listening.accept()
    theirs = tcp.stream_over(accepted, Address("tcp", "127.0.0.1", port))
    for stream in (ours, theirs):
        with socket.socket(fileno=os.dup(stream.fileno())) as under:
            assert under.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
        stream.close()
    listening.close()
