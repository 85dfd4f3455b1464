"""What a forked child does, as a function whose result comes back."""

import multiprocessing
import pickle
from collections.abc import Callable
from typing import Any

import mf
from tests.python.topics.made import PATIENCE

FORK = multiprocessing.get_context("fork")
HERE = "what the child did has ended otherwise"


def forked(act: Callable[[], Any]) -> Any:
    """What it returns in a child, or the mf.Error that it raises there."""
    ours, childs = FORK.Pipe()

    def child() -> None:
        try:
            result: Any = act()
        except mf.Error as failure:
            result = (failure.code.name, failure.message)
        except BaseException as other:
            result = f"{HERE}: {other!r}"
        childs.send_bytes(pickle.dumps(result))

    process = FORK.Process(target=child)
    process.start()
    try:
        assert ours.poll(PATIENCE), "the child hangs"
        return pickle.loads(ours.recv_bytes())
    finally:
        process.kill()
        process.join()


INHERITED = ("CONNECTION_LOST", "the connection belongs to the parent process")
