"""R5. Whether a server may be given work, and why not: for the monitor's /readyz and for the health service
(mf.health). Any thread may ask.
"""

from collections.abc import Callable
from threading import Lock

from mf.core.error import Code, not_executed
from mf.core.gate import Gate
from mf.core.log import log_escaped_exception
from mf.core.service import is_async

Check = Callable[[], str]
MOST_WATCHES = 64


class Readiness:
    """`own`: the server's own reasons, a line for each. `offers`: whether a service is offered. `stopping`:
    whether the server stops."""

    __slots__ = ("_checks", "_lock", "_offers", "_own", "_stopping", "_watchers")

    def __init__(
        self, own: Callable[[], list[str]], offers: Callable[[str], bool], stopping: Callable[[], bool]
    ) -> None:
        self._own = own
        self._offers = offers
        self._stopping = stopping
        self._lock = Lock()
        self._checks: dict[str, tuple[str, Check]] = {}
        self._watchers: list[Gate] = []

    def add_check(self, name: str, check: Check, service: str) -> None:
        """Raises ValueError for a name that is taken, TypeError for a check that would have to be awaited."""
        if is_async(check):
            raise TypeError(
                f"the check {name!r} is `async def`: give a function that returns its answer at once"
            )
        with self._lock:
            if name in self._checks:
                raise ValueError(f"there is a check {name!r} already")
            self._checks = {**self._checks, name: (service, check)}

    def remove_check(self, name: str) -> None:
        """Raises ValueError for a name that is unknown."""
        with self._lock:
            if name not in self._checks:
                raise ValueError(f"there is no check {name!r}")
            self._checks = {each: check for each, check in self._checks.items() if each != name}

    def why_not(self, service: str = "") -> list[str] | None:
        """Why no work may be given to the server, or to a service; None: that one is not offered."""
        if service and not self._offers(service):
            return None
        why = self._own()
        for name, (only, check) in self._checks.items():
            if (not only or only == service) and (text := _asked(name, check)):
                why.append(f"{name}: {text}")
        return why

    # For the health service

    @property
    def stops(self) -> bool:
        return self._stopping()

    def add_watcher(self, gate: Gate) -> None:
        """Raises Error(OVERLOADED): each watch asks all checks, and may hold a thread."""
        with self._lock:
            if len(self._watchers) >= MOST_WATCHES:
                text = f"the health of this server has {MOST_WATCHES} watches, the most that it takes"
                raise not_executed(Code.OVERLOADED, f"{text}: call check")
            self._watchers.append(gate)

    def remove_watcher(self, gate: Gate) -> None:
        with self._lock:
            if gate in self._watchers:
                self._watchers.remove(gate)

    def stop(self) -> None:
        """The server stops now: watches end."""
        with self._lock:
            watchers = list(self._watchers)
        for gate in watchers:
            gate.open()

    def after_fork(self) -> None:
        self._lock = Lock()
        self._watchers = []


def _asked(name: str, check: Check) -> str:
    """One line; empty if all is well."""
    try:
        said: object = check()
    except Exception as raised:
        log_escaped_exception(f"the check {name}", raised)
        return "raised"
    if not isinstance(said, str):
        return f"returned {type(said).__name__}, not why, or an empty text"
    return " ".join(said.split())
