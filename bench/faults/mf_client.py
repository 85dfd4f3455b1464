"""`mf_client.py ADDRESS`: the load of load.py over this library."""

from __future__ import annotations

import importlib
import sys

import mf
from faults.load import Step, obey

stubs = importlib.import_module("bench_work")  # generated when the bench is built


def new_client() -> Step:
    work = stubs.WorkClient(mf.Client(sys.argv[1]))

    def step(deadline: float) -> str:
        try:
            answer = work.step(1, options=mf.CallOptions(deadline=deadline))
        except mf.Error as error:
            return str(error)
        return "" if answer == 2 else "a wrong answer"

    return step


obey(new_client)
