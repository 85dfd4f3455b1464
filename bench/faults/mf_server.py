"""`mf_server.py LISTEN [CONTROLLER]`: server.cpp in Python."""

from __future__ import annotations

import importlib
import sys

import mf

stubs = importlib.import_module("bench_work")  # generated when the bench is built


class Work(stubs.WorkServant):  # type: ignore[misc, name-defined]
    def step(self, x: int) -> int:
        return x + 1

    def text(self, x: str) -> str:
        return x


server = mf.Server(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
server.offer(Work(), inline=True)
server.start()
print(server.address, flush=True)
server.run()
