"""R6. The replicated calls of one client to one group: what it sends, and when a call is over.

    start -> (sent again when a leader changes, and after a while) -> enough acknowledgements of one epoch
          -> refused for good | its deadline

A window of calls is under way at a time: a call beyond it waits until all calls but a window's length before
it have ended. A call's origin is made when it is sent for the first time, because it names the oldest call
that the client still awaits: a replica takes no message that is MOST_AHEAD before that one.

Every sending of a call has the same origin and the same bytes, so that replicas know it again. A
call ends exactly once, by an effect `Done`.
"""

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from uuid import UUID

from mf.core.code_class import FOR_GOOD
from mf.core.error import Code, Error, Execution
from mf.replicated.messages import (
    MOST_AHEAD,
    Ack,
    Ask,
    Body,
    Direct,
    Entry,
    Given,
    Leading,
    Message,
    Origin,
    Outcome,
    Pattern,
    Refused,
    Require,
    Send,
    Stamped,
    Submit,
    Tagged,
    Version,
    needed,
)

DEFAULT_WINDOW = 256
FIRST_REPEAT = 0.25
LONGEST_REPEAT = 1.0


@dataclass(slots=True)
class Applied:
    """What a call has come to: its version, which replicas have surely applied it, and their outcome."""

    version: Version
    members: list[str]
    outcome: Outcome


@dataclass(slots=True)
class Done:
    """The end of a call."""

    sequence: int
    result: Applied | Error


CallerEffect: TypeAlias = Send | Done


@dataclass(slots=True)
class _Call:
    body: Body
    need: int
    deadline: float
    again_at: float
    pause: float = FIRST_REPEAT
    waits: bool = True  # for room in the window
    sent: bool = False
    acked: dict[tuple[int, int, int], set[str]] = field(default_factory=dict)
    refusal: str = ""

    @property
    def most(self) -> int:
        return max(map(len, self.acked.values()), default=0)


class Caller:
    """See the module. `client`: the nonce of this caller alone. `window`: at most MOST_AHEAD."""

    def __init__(
        self, client: UUID, members: Sequence[str], schema: UUID, window: int = DEFAULT_WINDOW
    ) -> None:
        self.client = client
        self.members = tuple(members)
        self._schema = schema
        self._window = min(window, MOST_AHEAD)
        self._leading: Leading | None = None
        self._connected: dict[str, None] = {}
        self._next = 1
        self._calls: OrderedDict[int, _Call] = OrderedDict()  # the oldest first
        self._waiting: deque[int] = deque()
        self._effects: list[CallerEffect] = []

    @property
    def leader(self) -> str | None:
        """The member that gives out the versions, by what the client has heard."""
        return None if self._leading is None else self._leading.member

    def take(self) -> list[CallerEffect]:
        """The effects since the last call, in their order."""
        effects, self._effects = self._effects, []
        return effects

    def start(
        self, method: str, payload: bytes, pattern: Pattern, require: Require, deadline: float, now: float
    ) -> int:
        """A call, known by the number that this gives. Beyond the window it waits for others to end."""
        sequence = self._next
        self._next += 1
        body = Body(Origin(self.client, sequence), self._schema, method, pattern, require, payload)
        self._calls[sequence] = _Call(body, needed(require, len(self.members)), deadline, now)
        self._waiting.append(sequence)
        self._admit(now)
        return sequence

    def cancel(self, sequence: int) -> None:
        """It is not awaited any more. It may be applied all the same."""
        self._calls.pop(sequence, None)

    def connected(self, member: str, now: float) -> None:
        self._connected[member] = None
        self._send_all_again(now)

    def disconnected(self, member: str) -> None:
        self._connected.pop(member, None)

    def receive(self, member: str, message: Message, now: float) -> None:
        match message:
            case Ack():
                self._acked(message, now)
            case Given():
                self._given(message)
            case Leading():
                if self._leading is None or message.epoch > self._leading.epoch:
                    self._leading = message
                    self._send_all_again(now)
            case Refused():
                self._refused(member, message)

    def tick(self, now: float) -> None:
        """Now and then, a few times in FIRST_REPEAT."""
        for sequence, call in list(self._calls.items()):
            if now >= call.deadline:
                self._end(sequence, self._too_late(call))
            elif now >= call.again_at and not call.waits:
                self._send(call, now)
        self._admit(now)

    def _admit(self, now: float) -> None:
        """Those that waited for room, in their order."""
        while self._waiting:
            sequence = self._waiting[0]
            call = self._calls.get(sequence)
            if call is not None:
                oldest = next(iter(self._calls))
                if sequence - oldest >= self._window:
                    return
                call.waits = False
                call.body.origin.oldest = oldest
                self._send(call, now)
            self._waiting.popleft()

    def _send_all_again(self, now: float) -> None:
        for call in self._calls.values():
            if not call.waits:
                call.pause = FIRST_REPEAT
                self._send(call, now)

    def _send(self, call: _Call, now: float) -> None:
        call.again_at = now + call.pause
        call.pause = min(call.pause * 2, LONGEST_REPEAT)
        body, leader = call.body, self.leader
        if body.pattern is Pattern.no_versioning:
            for member in self._connected:
                if not any(member in acked for acked in call.acked.values()):
                    self._send_to(call, member, Direct(body))
        elif leader is None or leader not in self._connected:
            return
        elif body.pattern is Pattern.wait_for_version:
            for member in self._connected:
                self._send_to(call, member, Tagged(body, leader))
        elif body.pattern is Pattern.version_request:
            self._send_to(call, leader, Ask(body.origin))
        else:
            self._send_to(call, leader, Submit(body))

    def _send_to(self, call: _Call, member: str, message: Message) -> None:
        call.sent = True
        self._effects.append(Send(member, message))

    def _given(self, message: Given) -> None:
        """A version for a message: all get it, or all but the versioning server, which has it."""
        call = self._calls.get(message.sequence)
        if call is None:
            return
        stamped = Stamped(Entry(message.version, call.body), message.under)
        alone = call.body.pattern is Pattern.version_request
        for member in self._connected:
            if alone or member != self.leader:
                self._send_to(call, member, stamped)

    def _acked(self, message: Ack, now: float) -> None:
        call = self._calls.get(message.sequence)
        if call is None or message.client != self.client:
            return
        version = message.version
        members = call.acked.setdefault((message.under, version.epoch, version.counter), set())
        members.update(each for each in message.applied if each in self.members)
        if len(members) >= call.need:
            self._end(message.sequence, Applied(version, sorted(members), message.outcome))
            self._admit(now)

    def _refused(self, member: str, message: Refused) -> None:
        call = self._calls.get(message.sequence)
        if call is None:
            return
        call.refusal = f"{member}: {message.text}"
        try:
            code = Code(message.code)
        except ValueError:
            return
        if code in FOR_GOOD:
            self._end(message.sequence, Error(code, call.refusal, Execution.NOT_EXECUTED))

    def _too_late(self, call: _Call) -> Error:
        text = f"{call.most} of {len(self.members)} replicas are known to have applied it, {call.need} must"
        if call.waits:
            text += "; it waited for earlier calls of this client to end"
        elif self._leading is None:
            text += "; no versioning server is known"
        elif self.leader not in self._connected:
            text += f"; the versioning server {self.leader} is not reached"
        if call.refusal:
            text += f"; {call.refusal}"
        ran = Execution.UNKNOWN if call.sent else Execution.NOT_EXECUTED
        return Error(Code.DEADLINE_EXCEEDED, text, ran)

    def _end(self, sequence: int, result: Applied | Error) -> None:
        del self._calls[sequence]
        self._effects.append(Done(sequence, result))
