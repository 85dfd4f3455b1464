"""R0. Whether code that ran in a task of asyncio has left something there that other code would notice."""

from asyncio import Task
from sys import getrefcount
from typing import Any
from weakref import getweakrefcount


def traces_of(task: Task[Any]) -> tuple[Any, ...]:
    """Equal before and after code that has not cancelled the task, not even for a while, and has left it no
    other name, callback or reference. To be called by one function both times, so that it refers to the task
    as often."""
    return (
        getrefcount(task),
        getweakrefcount(task),
        task.cancelling(),
        getattr(task, "_must_cancel", False),  # stays after `uncancel` before Python 3.13
        getattr(task, "_callbacks", None),
        task.get_name(),
    )
