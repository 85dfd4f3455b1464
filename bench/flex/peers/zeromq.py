"""`zeromq.py server` and `zeromq.py client PORT`: the ping-pong of Table 2 over sockets of ZeroMQ."""

from __future__ import annotations

import sys
import threading

import zmq

from flex.program import play
from pyrpc.commands import serve_until_stdin_ends


def main(arguments: list[str]) -> None:
    socket = zmq.Context().socket(zmq.PAIR)
    if arguments[0] == "client":
        socket.connect(f"tcp://127.0.0.1:{arguments[1]}")
        play(socket.send, socket.recv)
        return
    port = socket.bind_to_random_port("tcp://127.0.0.1")

    def answer() -> None:
        while True:
            socket.send(socket.recv())

    threading.Thread(target=answer, daemon=True).start()
    serve_until_stdin_ends(port)


if __name__ == "__main__":
    main(sys.argv[1:])
