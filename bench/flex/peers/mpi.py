"""The ping-pong of Table 2 over mpi4py: rank 0 of `mpiexec -n 2 mpi.py client PORT` plays, rank 1 answers.

There is no `mpi.py server`, since MPI starts its processes itself. Messages of mpi4py's lower-case functions
are pickled, as the paper's are.
"""

from __future__ import annotations

import sys
from typing import Any

from flex.program import play
from pyrpc.commands import serve_until_stdin_ends

_END = b""


def main(arguments: list[str]) -> None:
    if arguments[0] == "server":
        serve_until_stdin_ends(0)
        return
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    if world.rank == 0:

        def send(data: bytes) -> None:
            world.send(data, dest=1)

        def receive() -> Any:
            return world.recv(source=1)

        play(send, receive, finish=lambda: world.send(_END, dest=1))
        return
    while (data := world.recv(source=0)) != _END:
        world.send(data, dest=0)


if __name__ == "__main__":
    main(sys.argv[1:])
