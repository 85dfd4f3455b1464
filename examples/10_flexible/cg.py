"""cg.py CONTROLLER RANK SIZE [SYNSETS]: the method of conjugate gradients, each rank with its rows of the
matrix.

The matrix is a real one: the Laplacian of WordNet's graph of nouns (which is a kind of which), plus one
on the diagonal. The right side is 1 for the root of all nouns and 0 else: the solution says how near each
is to it. The dot product is example 2 of the paper, as it is there.
"""

import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from collectives import Array, Collectives
from ranks import LIMIT, Ranks

from mf import flex

NOUNS = Path("/usr/share/wordnet/data.noun")
WORLD = "cg"


class Rows:
    """Some rows of a sparse matrix: where each begins, the columns, and the values."""

    def __init__(self, first: int, begins: Any, columns: Any, values: Array) -> None:
        self.first = first
        self.count = len(begins) - 1
        self._begins = begins
        self._columns = columns
        self._values = values

    def times(self, x: Array) -> Array:
        products = self._values * x[self._columns]
        return np.add.reduceat(products, self._begins[:-1])  # each row has its diagonal


def edges(synsets: int) -> list[tuple[int, int]]:
    """Of the first nouns: each with what it is a kind of."""
    with NOUNS.open(encoding="ascii") as lines:
        synset_lines = islice((line for line in lines if not line.startswith("  ")), synsets)
        rows = [line.split(" | ")[0].split() for line in synset_lines]
    numbers = {row[0]: number for number, row in enumerate(rows)}
    found = set()
    for number, row in enumerate(rows):
        pointers = row[4 + 2 * int(row[3], 16) :]
        for kind, offset, speech in zip(pointers[1::4], pointers[2::4], pointers[3::4], strict=False):
            if kind == "@" and speech == "n" and offset in numbers and numbers[offset] != number:
                found.add((min(number, numbers[offset]), max(number, numbers[offset])))
    return sorted(found)


def laplacian(synsets: int, first: int, last: int) -> Rows:
    """These rows of it, with one added on the diagonal."""
    neighbours: list[list[int]] = [[] for _ in range(synsets)]
    for one, other in edges(synsets):
        neighbours[one].append(other)
        neighbours[other].append(one)
    begins, columns, values = [0], [], []
    for row in range(first, last):
        columns += [row, *neighbours[row]]
        values += [1.0 + len(neighbours[row]), *(-1.0 for _ in neighbours[row])]
        begins.append(len(columns))
    return Rows(first, np.array(begins), np.array(columns), np.array(values))


class Solver:
    def __init__(self, ranks: Ranks) -> None:
        self.me = ranks.process
        self.collectives = Collectives(ranks, tree=True)
        self.parent = ranks.name(0)
        self.workers = [ranks.name(rank) for rank in range(1, ranks.size)]

    def pdot(self, x: Array, y: Array) -> float:
        """Example 2: the local products, summed by the parent and sent back to all."""
        result = np.dot(x, y)
        if self.me.name != self.parent:
            self.me.send(dest=self.parent, result=result, tag="pdot")
            m = self.me.recv(LIMIT, src=self.parent, tag="allreduce")
            return float(m.result)
        for _ in self.workers:
            m = self.me.recv(LIMIT, tag="pdot")
            result += m.result
        for worker in self.workers:
            self.me.send(dest=worker, result=result, tag="allreduce")
        return float(result)

    def whole(self, part: Array, padded: int, count: int) -> Array:
        """All parts of a vector, one behind the other."""
        mine = np.zeros(padded)
        mine[: len(part)] = part
        rows = self.collectives.gather(mine)
        size = padded * self.collectives.size
        return self.collectives.broadcast(np.empty(size) if rows is None else rows.reshape(-1))[:count]

    def solve(self, rows: Rows, b: Array, padded: int, tolerance: float = 1e-10) -> tuple[Array, int]:
        """The whole solution, and how many steps it took."""
        mine = slice(rows.first, rows.first + rows.count)
        x = np.zeros(rows.count)
        r = b[mine].copy()
        p = r.copy()
        rr = self.pdot(r, r)
        steps = 0
        while rr > tolerance**2 and steps < len(b):
            ap = rows.times(self.whole(p, padded, len(b)))
            alpha = rr / self.pdot(p, ap)
            x += alpha * p
            r -= alpha * ap
            rr, before = self.pdot(r, r), rr
            p = r + rr / before * p
            steps += 1
        return self.whole(x, padded, len(b)), steps


def main(where: str, rank: int, size: int, synsets: int = 3000) -> None:
    with flex.Node(where, patience=LIMIT) as node:
        ranks = Ranks(node.process(f"{WORLD}.{rank}"), rank, size)
        solver = Solver(ranks)
        padded = -(-synsets // size)
        rows = laplacian(synsets, min(rank * padded, synsets), min((rank + 1) * padded, synsets))
        b = np.zeros(synsets)
        b[0] = 1.0
        x, steps = solver.solve(rows, b, padded)
        error = np.abs(laplacian(synsets, 0, synsets).times(x) - b).max()
        if rank == 0:
            print(f"{synsets} unknowns, {steps} steps, error {error:.1e}, sum of the solution {x.sum():.6f}")
        solver.collectives.barrier()  # no rank leaves while another waits for its message


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
