"""A node: the flexible processes of one program, and the server, client and loop that they share.

    with Node("mf://localhost:7400") as node:
        a = node.process("A")
        a.send(dest="B", tag="input", data=[1, 2, 3])

    async with AsyncNode("mf://localhost:7400") as node:
        a = await node.process("A")
        await a.send_async(dest="B", tag="input", data=[1, 2, 3])

A `Node` runs an asyncio loop on its own thread; an `AsyncNode` uses the running loop. A node without an
address is standalone: its processes reach only each other, and it does not listen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, Unpack
from uuid import uuid4

from mf.core.error import Code, not_executed
from mf.flex.errors import of_parent
from mf.flex.outgoing import PATIENCE
from mf.flex.post import Post
from mf.flex.process import Process, ProcessFields
from mf.link import fork
from mf.link.background import Background
from mf.server.access import rules_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mf.core.tls import Tls
    from mf.flex.outgoing import Outgoing
    from mf.route.async_resolver import AsyncResolver

_LONGEST_NAME = 255
LINGER = 5.0
"""How many seconds close() waits for sent messages to arrive."""


class BaseNode:
    """The common part of both kinds of nodes. `where`: 'mf://host:port' of a controller, 'relay://host:port',
    or the addresses of other nodes, separated by commas; None: no other nodes. `listen`, `advertise`, `tls`:
    see mf.Server. `patience`: how many seconds the destination of a message may be unknown or unreachable
    before the message fails. `access`: the path of an access file (access.py), by which other nodes may send
    to the processes of this one, and under which names; what it does not allow is refused. Raises ValueError
    for mistakes in it.
    """

    def __init__(
        self,
        where: str | Callable[[], AsyncResolver] | None = None,
        *,
        listen: str = "tcp://127.0.0.1:0",
        advertise: str | None = None,
        tls: Tls | None = None,
        patience: float = PATIENCE,
        access: str = "",
    ) -> None:
        rules_of(access)
        self._options: tuple[Any, ...] = (where, listen, advertise, tls, patience, access)
        self._alone = where is None
        self._post: Post | None = None
        self._local: dict[str, Process] = {}
        self._closed = False
        self._inherited = False
        self._begin()
        fork.register(self)

    def _begin(self) -> None:
        """Starts it, if it starts when it is constructed."""

    @property
    def address(self) -> str:
        """The address at which other nodes reach this one; empty before it is started or if standalone."""
        return self._post.address if self._post is not None else ""

    @property
    def processes(self) -> list[str]:
        """The names of its processes."""
        return [name for name in self._local if "/" not in name]

    def _make(self, name: str | None, groups: Iterable[str], options: ProcessFields) -> Process:
        name = str(uuid4()) if name is None else name
        groups = tuple(groups)
        for each in (name, *groups):
            if not 1 <= len(each.encode()) <= _LONGEST_NAME or "/" in each or "*" in each:
                text = f"a name has 1 to {_LONGEST_NAME} bytes, and neither '/' nor '*': {each[:300]!r}"
                raise not_executed(Code.INVALID_ARGUMENT, text)
        if name in self._local:
            raise not_executed(Code.INVALID_ARGUMENT, f"this node has a process {name!r} already")
        self._check_own()
        if self._closed:
            raise not_executed(Code.CANCELLED, "the node is closed")
        return Process(self, name, groups, **options)  # type: ignore[arg-type] # its subclasses are offices

    def _enter(self, process: Process) -> None:
        self._local[process.name] = process
        for group in process.groups:
            self._local[f"{group}/{process.name}"] = process

    def _forget(self, process: Process) -> None:
        for name in (process.name, *(f"{group}/{process.name}" for group in process.groups)):
            self._local.pop(name, None)

    def _check_own(self) -> None:
        if self._inherited:
            raise of_parent("the node")

    def after_fork(self) -> None:
        """In a child: the node and its processes belong to the parent, which goes on with them."""
        self._closed = self._inherited = True
        for process in {id(each): each for each in self._local.values()}.values():
            process.after_fork()
        self._local = {}
        if self._post is not None:
            self._post.after_fork()

    def _members_here(self, group: str) -> list[str]:
        return [name for name in list(self._local) if name.startswith(group + "/")]

    # Implementation of Office

    def local(self, dest: str) -> Process | None:
        return self._local.get(dest)

    def way(self, dest: str) -> Outgoing:
        self._check_own()
        if self._post is None:
            raise not_executed(
                Code.UNKNOWN_AGENT, f"this node has no process {dest!r}, and has no other nodes to ask"
            )
        return self._post.way(dest)

    def on_own_loop(self) -> bool:
        """Whether the caller runs on the node's loop, so that blocking would deadlock."""
        return self._post is not None and self._post.is_here()


def _both(here: list[str], elsewhere: list[str]) -> list[str]:
    return list(dict.fromkeys((*here, *elsewhere)))


class Node(BaseNode):
    """A node for programs with threads. It starts when it is constructed; `close` it, or use `with`."""

    _thread: Background | None = None

    def _begin(self) -> None:
        if not self._alone:
            self._thread = Background("mf-flex")
            try:
                self._post = self._thread.call(Post, *self._options)
                self._thread.run(self._post.start())
            except BaseException:
                self._thread.stop(_nothing(), 1.0)
                raise

    def reload(self) -> bool:
        """Reads the access file and the files of `tls` again, at once: see Server.reload."""
        if self._thread is None or self._post is None:
            return True
        return self._thread.call(self._post.reload)

    def process(
        self, name: str | None = None, *, groups: Iterable[str] = (), **options: Unpack[ProcessFields]
    ) -> Process:
        """Creates a process with this name (default: a UUID), to which other nodes can send, also as a member
        of `groups`. Raises Error(INVALID_ARGUMENT) for a name that is invalid or taken on this node."""
        process = self._make(name, groups, options)
        if self._thread is not None and self._post is not None:
            self._thread.call(self._post.add, process.name, process.groups, process)
        self._enter(process)
        return process

    def close(self, timeout: float = LINGER) -> None:
        """Closes its processes. Waits at most `timeout` seconds until the messages they have sent are in
        their mailboxes; the rest is undelivered. May be called twice."""
        if self._closed:
            return
        self._closed = True
        for process in {id(each): each for each in self._local.values()}.values():
            process.leave()
        if self._thread is not None and self._post is not None:
            self._thread.stop(self._post.close(timeout), timeout + 10.0)

    def after_fork(self) -> None:
        super().after_fork()
        if self._thread is not None:
            self._thread.after_fork()
            self._thread = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Implementation of Office

    def members(self, group: str) -> list[str]:
        """The members of a group that are known now, as 'GROUP/NAME'. If there is none, it waits up to
        `patience` seconds for the first."""
        self._check_own()
        here = self._members_here(group)
        if self._post is None or self._thread is None:
            return here
        return _both(here, self._thread.run(self._post.members(group)))

    async def members_async(self, group: str) -> list[str]:
        from asyncio import to_thread

        return await to_thread(self.members, group)

    def leave(self, process: Process) -> None:
        self._forget(process)
        if self._thread is not None and self._post is not None:
            self._thread.call(self._post.remove, process.name, process.groups)

    async def leave_async(self, process: Process) -> None:
        self.leave(process)


class AsyncNode(BaseNode):
    """A node for asyncio programs: it runs on the loop on which it is started. Use the methods of its
    processes that end in `_async`; `poll`, `peek` and `on_message` do not block either."""

    async def start(self) -> None:
        self._check_own()
        if not self._alone and self._post is None:
            self._post = Post(*self._options)
            await self._post.start()

    def reload(self) -> bool:
        """See Node.reload."""
        return self._post is None or self._post.reload()

    async def process(
        self, name: str | None = None, *, groups: Iterable[str] = (), **options: Unpack[ProcessFields]
    ) -> Process:
        """See Node.process."""
        process = self._make(name, groups, options)
        if self._post is not None:
            self._post.add(process.name, process.groups, process)
        self._enter(process)
        return process

    async def close(self, timeout: float = LINGER) -> None:
        """See Node.close."""
        if self._closed:
            return
        self._closed = True
        for process in {id(each): each for each in self._local.values()}.values():
            await process.leave_async()
        if self._post is not None:
            await self._post.close(timeout)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Implementation of Office

    def members(self, group: str) -> list[str]:
        self._check_own()
        here = self._members_here(group)
        if not here and self._post is not None:
            raise not_executed(Code.INVALID_ARGUMENT, "a group is sent to by send_async from a loop")
        return here

    async def members_async(self, group: str) -> list[str]:
        """See Node.members."""
        self._check_own()
        here = self._members_here(group)
        return here if self._post is None else _both(here, await self._post.members(group))

    def leave(self, process: Process) -> None:
        self._forget(process)
        if self._post is not None:
            self._post.remove(process.name, process.groups)

    async def leave_async(self, process: Process) -> None:
        self.leave(process)


async def _nothing() -> None:
    """Stops a Background thread without further work."""
