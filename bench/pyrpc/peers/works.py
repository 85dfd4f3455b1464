"""The works of a peer, built from its calls; each program defines how these are made."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from pyrpc.commands import Work, all_at_once, check, echoes, name_of, obey, one_by_one

BIG = 1 << 24
AHEAD = 1024  # number of asynchronous calls under way at once


def works(
    following: Callable[[int], int],
    look_up_many: Callable[[Sequence[str]], None],
    look_up_all: Callable[[Sequence[str]], Sequence[int]],
    echo: Callable[[bytes], int],
) -> dict[str, Work]:
    """`look_up_many` makes one call for each name, AHEAD at once, and checks each; `look_up_all` makes one
    call for all; `echo` returns the size of what came back."""

    def batch(names: Sequence[str]) -> None:
        for i, found in enumerate(look_up_all(names)):
            check(found == i + 16)

    def named(run: Callable[[Sequence[str]], object]) -> Work:
        def work(count: int) -> Callable[[], dict[str, float]]:
            names = [name_of(i) for i in range(count)]
            return lambda: all_at_once(count, lambda: run(names))

        return work

    data = bytes(BIG)
    return {
        "unary_int": lambda count: lambda: one_by_one(count, lambda i: check(following(i) == i + 1)),
        "independent_100k": named(look_up_many),
        "batch_100k": named(batch),
        "echo_16mib": lambda count: lambda: echoes(count, BIG, lambda: check(echo(data) == BIG)),
    }


def main(serve: Callable[[], None], call: Callable[[str], None]) -> None:
    if sys.argv[1:] == ["server"]:
        serve()
    elif sys.argv[1:2] == ["client"] and len(sys.argv) == 3:
        call(sys.argv[2])
    else:
        sys.exit(f"usage: {sys.argv[0]} server | client PORT")


__all__ = ["AHEAD", "BIG", "check", "main", "obey", "works"]
