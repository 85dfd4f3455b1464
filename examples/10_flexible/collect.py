"""collect.py CONTROLLER RANK SIZE naive|tree: each rank calls every collective operation, with large buffers
and with small ones, and checks what it gets. collect.cpp is the same in C++."""

import sys

import numpy as np
from collectives import Collectives
from ranks import LIMIT, Ranks

from mf import flex

COUNT = 20


def check(holds: bool, what: str) -> None:
    if not holds:
        raise SystemExit(f"{what} has given something else")


def run(ranks: Ranks, *, tree: bool) -> None:
    every, rank, size = Collectives(ranks, tree=tree), ranks.rank, ranks.size
    table = np.arange(float(size * COUNT)).reshape(size, COUNT)
    every.barrier()
    for root in (0, size - 1):
        check(np.array_equal(every.broadcast(table[rank], root), table[root]), "broadcast")
        gathered = every.gather(table[rank], root)
        check((gathered is not None) == (rank == root), "gather")
        check(gathered is None or np.array_equal(gathered, table), "gather")
        mine = every.scatter(table if rank == root else None, COUNT, root)
        check(np.array_equal(mine, table[rank]), "scatter")
        reduced = every.reduce(table[rank], np.maximum, root)
        check(reduced is None or np.array_equal(reduced, table.max(0)), "reduce")
    check(np.array_equal(every.allreduce(table[rank]), table.sum(0)), "allreduce")
    by_sender = np.stack([table[rank] + 1000 * sender for sender in range(size)])
    check(np.array_equal(every.all_to_all(table + 1000 * rank), by_sender), "all_to_all")
    every.barrier()


def main(where: str, rank: int, size: int, form: str) -> None:
    with flex.Node(where, patience=LIMIT) as node:
        me = node.process(f"collect.{rank}")
        for chunk_bytes in (64, 1 << 20):
            run(Ranks(me, rank, size, chunk_bytes), tree=form == "tree")
    print(f"rank {rank}: all is as it should be")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
