"""farm.py CONTROLLER work | use NUMBER…: a task farm, and objects of other processes whose methods are
called by flexible messages (section 6 of the paper).

A call is a message `call=METHOD, args=[…], id=N`, its answer a message `reply=N` with `result` or
`error`. Methods whose names begin with an underscore are not called. A user of the farm finds the workers by
their group, and gives each the next task when it has answered.
"""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from mf import flex

GROUP = "farm"
LIMIT = 60.0
_ids = count(1)


class RemoteError(Exception):
    """What a method of another process raised, in its words."""


class Remote:
    """An object of another process: `Remote(me, "worker").factors(84)` calls its method and waits."""

    def __init__(self, me: flex.Process, name: str) -> None:
        self._me = me
        self._name = name

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            number = begin(self._me, self._name, method, args)
            return result_of(self._me.recv(LIMIT, src=self._name, reply=number))

        return call


def begin(me: flex.Process, name: str, method: str, args: tuple[Any, ...]) -> int:
    """Calls without waiting."""
    number = next(_ids)
    me.send(dest=name, call=method, args=args, id=number)
    return number


def result_of(answer: flex.Message) -> Any:
    if "error" in answer:
        raise RemoteError(answer.error)
    return answer.result


def serve(me: flex.Process, served: Any) -> None:
    """Answers calls of the methods of an object, until a message says stop."""
    while "call" in (m := me.recv(10 * LIMIT)):
        try:
            method = None if m.call.startswith("_") else getattr(served, m.call, None)
            if not callable(method):
                raise AttributeError(f"there is no method {m.call!r}")
            me.send(dest=m.src, reply=m.id, result=method(*m.args))
        except Exception as raised:
            me.send(dest=m.src, reply=m.id, error=f"{type(raised).__name__}: {raised}")


def farm(me: flex.Process, workers: list[str], method: str, tasks: Iterable[Any]) -> list[Any]:
    """The results in the order of the tasks, however long each takes."""
    left = deque(enumerate(tasks))
    under_way: dict[int, int] = {}
    results: dict[int, Any] = {}

    def next_for(worker: str) -> None:
        if left:
            index, task = left.popleft()
            under_way[begin(me, worker, method, (task,))] = index

    for worker in workers:
        next_for(worker)
    while under_way:
        answer = me.recv(LIMIT, reply=lambda number: number in under_way)
        results[under_way.pop(answer.reply)] = result_of(answer)
        next_for(answer.src)
    return [results[index] for index in range(len(results))]


class Factory:
    """What the workers of this example have."""

    def __init__(self) -> None:
        self._made = 0

    def factors(self, number: int) -> list[int]:
        if number < 1:
            raise ValueError(f"{number} has no prime factors")
        found, divisor = [], 2
        while divisor * divisor <= number:
            while number % divisor == 0:
                found.append(divisor)
                number //= divisor
            divisor += 1
        self._made += 1
        return found + [number] * (number > 1)

    def made(self) -> int:
        return self._made


def use(where: str, numbers: list[int], workers: int = 2) -> None:
    with flex.Node(where, patience=LIMIT) as node:
        me = node.process()
        until = time.monotonic() + LIMIT
        while len(found := node.members(GROUP)) < workers and time.monotonic() < until:
            time.sleep(0.05)
        names = [member.removeprefix(f"{GROUP}/") for member in found]
        for number, factors in zip(numbers, farm(me, names, "factors", numbers), strict=True):
            print(f"{number} = {' x '.join(map(str, factors))}")
        print(f"made by {len(names)} workers: {sum(Remote(me, name).made() for name in names)}")
        first = Remote(me, names[0])
        for wrong, args in ((first.factors, (0,)), (first.burn, ())):
            try:
                wrong(*args)
            except RemoteError as error:
                print(error)
        me.send(dest=f"{GROUP}/*", stop=True).wait(LIMIT)


def main(where: str, role: str, *numbers: str) -> None:
    if role == "use":
        use(where, [int(number) for number in numbers])
        return
    with flex.Node(where, patience=LIMIT) as node:
        me = node.process(groups=[GROUP])
        serve(me, Factory())


if __name__ == "__main__":
    main(*sys.argv[1:])
