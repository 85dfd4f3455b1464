"""R0. One text for callers that block and callers of asyncio: a driver is written once, as a coroutine, over
waits that its caller's kind provides. Those of threads block within `await` and never suspend, so that no
loop is needed to run it.
"""

from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def immediate(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine all of whose waits block the thread."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    coroutine.close()
    raise RuntimeError("a coroutine that must not suspend has waited for a loop")
