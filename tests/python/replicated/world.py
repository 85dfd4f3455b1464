"""A group of replicas and its clients in virtual time, over a network that loses, delays, repeats and
reorders, with processes that are killed and come back, and a controller that gives the lead. One seed is one
run.

The machines are the product's own; the servants keep a list of what they have applied, and every rule that
must hold at each step is checked at that step.
"""

import heapq
import json
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from uuid import UUID

from mf.core.error import Code, Error
from mf.replicated.caller import Applied, Caller, Done
from mf.replicated.messages import (
    MOST_AHEAD,
    Apply,
    Ask,
    Body,
    Direct,
    Distrust,
    Effect,
    Message,
    Origin,
    Outcome,
    Pattern,
    PeerId,
    Refused,
    Require,
    Resign,
    RestoreState,
    Send,
    Stamped,
    Stuck,
    Submit,
    Tagged,
    TakeSnapshot,
    Version,
)
from mf.replicated.replica import Replica
from mf.replicated.settings import ReplicaSettings

SCHEMA = UUID(int=7)
TICK = 0.05
_REFUSED_FOR_NOW = (Code.OVERLOADED, Code.UNAVAILABLE)
"""An honest client's message is refused with no other code."""

Key = tuple[int, int]


def key_of(version: Version) -> Key:
    return version.epoch, version.counter


def origin_of(message: Message) -> Origin | None:
    """The origin of a message that a client sends itself; None for all other messages."""
    match message:
        case Ask(origin):
            return origin
        case Submit(Body(origin)) | Tagged(Body(origin)) | Direct(Body(origin)):
            return origin
        case Stamped(entry) if entry.body is not None:
            return entry.body.origin
    return None


@dataclass
class Network:
    """Chances of each message, and how long it takes at least and at most."""

    lost: float = 0.0
    repeated: float = 0.0
    least: float = 0.0001
    most: float = 0.0001


@dataclass
class Process:
    """One run of a member's process."""

    name: str
    replica: Replica
    state: list[list[int]] = field(default_factory=list)  # client, sequence: what the servant has applied
    held: set[tuple[UUID, int]] = field(default_factory=set)
    at: Key = (0, 0)
    alive: bool = True
    paused_until: float = 0.0
    jobs: deque[Effect] = field(default_factory=deque)
    busy: bool = False


class World:
    def __init__(
        self,
        seed: int = 1,
        members: int = 3,
        network: Network | None = None,
        settings: ReplicaSettings | None = None,
        *,
        can_snapshot: bool = True,
        applying: float = 0.0,
    ) -> None:
        self.random = Random(seed)
        self.network = network or Network()
        self.settings = settings or ReplicaSettings()
        self.can_snapshot = can_snapshot
        self.applying = applying
        self.now = 0.0
        self.names = ["a", "b", "c", "d", "e"][:members]
        self.processes: dict[str, Process] = {}
        self.callers: dict[UUID, Caller] = {}
        self.results: dict[tuple[UUID, int], Applied | Error] = {}
        self.begun: dict[tuple[UUID, int], Require] = {}
        self.contents: dict[Key, tuple[UUID, int]] = {}
        self.origins: dict[tuple[UUID, int], int] = {}  # the oldest call that each message has named
        self.cut: set[frozenset[PeerId]] = set()
        self.trace: Counter[tuple[str, str, str]] = Counter()
        self.sent: list[tuple[str, str, str]] = []
        self.watch: Callable[[str, str, Message], None] | None = None
        self.stuck: list[str] = []
        self.epoch = 0
        self.leader: Process | None = None
        self._queue: list[str] = []
        self._events: list[tuple[float, int, Callable[[], object]]] = []
        self._count = 0
        self._lives = 0
        for name in self.names:
            self.start(name)
        self.at(TICK, self._tick)

    # Time

    def at(self, delay: float, what: Callable[[], object]) -> None:
        self._count += 1
        heapq.heappush(self._events, (self.now + delay, self._count, what))

    def run(self, until: float) -> None:
        while self._events and self._events[0][0] <= until:
            self.now, _, what = heapq.heappop(self._events)
            what()
        self.now = until

    def run_until(self, holds: Callable[[], bool], within: float) -> bool:
        """Whether it holds in so many virtual seconds."""
        end = self.now + within
        while not holds():
            if not self._events or self._events[0][0] > end:
                return False
            self.now, _, what = heapq.heappop(self._events)
            what()
        return True

    def _tick(self) -> None:
        self.at(TICK, self._tick)
        for process in list(self.processes.values()):
            if self.now >= process.paused_until:
                process.replica.tick(self.now)
                self._effects(process)
        for caller in self.callers.values():
            caller.tick(self.now)
            self._client_effects(caller)

    # Processes

    def start(self, name: str) -> None:
        """A process without any memory."""
        self._lives += 1
        replica = Replica(
            name,
            self.names,
            SCHEMA,
            UUID(int=self._lives),
            can_snapshot=self.can_snapshot,
            settings=self.settings,
        )
        process = self.processes[name] = Process(name, replica)
        for other in self.processes.values():
            if other is not process:
                self._link(name, other.name)
        for client in self.callers:
            self._link(name, client)
        self._ask_for_lead(name)

    def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        process.alive = False
        others: list[PeerId] = [*self.processes, *self.callers]
        for other in others:
            self._unlink_one(other, name)
        self._lose_lead(process, 0.05)

    def pause(self, name: str, seconds: float) -> None:
        """The process is suspended, as by SIGSTOP: its links stay, and messages for it wait."""
        process = self.processes[name]
        process.paused_until = max(process.paused_until, self.now + seconds)

    def client(self) -> Caller:
        """One more client, with links to all that are there."""
        caller = Caller(UUID(int=1000 + len(self.callers)), self.names, SCHEMA)
        self.callers[caller.client] = caller
        for name in self.processes:
            self._link(name, caller.client)
        return caller

    def call(
        self,
        caller: Caller,
        pattern: Pattern,
        require: Require = Require.majority,
        timeout: float = 20.0,
        payload: bytes = b"",
    ) -> int:
        sequence = caller.start("put", payload, pattern, require, self.now + timeout, self.now)
        self.begun[caller.client, sequence] = require
        self._client_effects(caller)
        return sequence

    def give_up(self, caller: Caller) -> None:
        """The client awaits nothing any more of what it has under way, as if it had died."""
        for client, sequence in [each for each in self.begun if each not in self.results]:
            if client == caller.client:
                caller.cancel(sequence)
                del self.begun[client, sequence]

    # The network

    def partition(self, *pairs: tuple[PeerId, PeerId]) -> None:
        """Cuts these pairs; the ends notice."""
        for one, other in pairs:
            pair = frozenset((one, other))
            if pair not in self.cut:
                self.cut.add(pair)
                self._unlink_one(one, other)
                self._unlink_one(other, one)

    def heal(self) -> None:
        pairs, self.cut = self.cut, set()
        for pair in sorted(pairs, key=sorted_names):
            one, other = sorted(pair, key=str)
            if isinstance(one, UUID):
                one, other = other, one
            if one in self.processes and (isinstance(other, UUID) or other in self.processes):
                self._link(str(one), other)

    def _link(self, member: str, other: PeerId) -> None:
        if frozenset((member, other)) not in self.cut:
            self.at(self._delay(), lambda: self._connect(member, other))

    def _connect(self, member: str, other: PeerId) -> None:
        process = self.processes.get(member)
        if process is None or frozenset((member, other)) in self.cut:
            return
        if isinstance(other, UUID):
            caller = self.callers[other]
            process.replica.connected(other, self.now)
            caller.connected(member, self.now)
            self._client_effects(caller)
        elif other in self.processes:
            process.replica.connected(other, self.now)
            self.processes[other].replica.connected(member, self.now)
            self._effects(self.processes[other])
        self._effects(process)

    def _unlink_one(self, one: PeerId, other: PeerId) -> None:
        if isinstance(one, UUID):
            self.callers[one].disconnected(str(other))
        elif one in self.processes:
            self.processes[one].replica.disconnected(other, self.now)

    def _delay(self) -> float:
        return self.random.uniform(self.network.least, self.network.most)

    def _send(self, source: PeerId, to: PeerId, message: Message) -> None:
        names = ("client" if isinstance(source, UUID) else source, "client" if isinstance(to, UUID) else to)
        kind = type(message).__name__
        self.trace[names[0], names[1], kind] += 1
        self.sent.append((names[0], names[1], kind))
        if self.watch is not None:
            self.watch(*names, message)
        if isinstance(source, UUID):
            self._check_origin(source, message)
        elif isinstance(message, Refused):
            assert message.code in _REFUSED_FOR_NOW, f"{source} refuses for good: {message.text}"
        if frozenset((source, to)) in self.cut or self.random.random() < self.network.lost:
            return
        times = 2 if self.random.random() < self.network.repeated else 1
        receiver = None if isinstance(to, UUID) else self.processes.get(to)
        for _ in range(times):
            self.at(self._delay(), lambda: self._arrive(source, to, receiver, message))

    def _check_origin(self, source: UUID, message: Message) -> None:
        """Checks what must hold each time that a client sends a message of its own."""
        origin = origin_of(message)
        if origin is not None:
            assert origin.client == source
            assert 0 <= origin.sequence - origin.oldest < MOST_AHEAD, f"{origin} is too far ahead"
            said = self.origins.setdefault((source, origin.sequence), origin.oldest)
            assert said == origin.oldest, f"{origin} was sent with {said}"

    def _arrive(self, source: PeerId, to: PeerId, receiver: Process | None, message: Message) -> None:
        if frozenset((source, to)) in self.cut:
            return
        if receiver is not None and receiver.paused_until > self.now:
            later = receiver.paused_until - self.now
            self.at(later, lambda: self._arrive(source, to, receiver, message))
            return
        if isinstance(to, UUID):
            caller = self.callers[to]
            caller.receive(str(source), message, self.now)
            self._client_effects(caller)
        elif receiver is not None and receiver.alive:
            receiver.replica.receive(source, message, self.now)
            self._effects(receiver)

    # Effects

    def _client_effects(self, caller: Caller) -> None:
        for effect in caller.take():
            if isinstance(effect, Done):
                key = (caller.client, effect.sequence)
                assert key not in self.results, f"call {key} ended twice"
                self.results[key] = effect.result
            else:
                self._send(caller.client, effect.to, effect.message)

    def _effects(self, process: Process) -> None:
        for effect in process.replica.take():
            match effect:
                case Send(to, message):
                    if process.alive:
                        self._send(process.name, to, message)
                case Resign():
                    self._lose_lead(process, 0.0)
                    self._ask_for_lead(process.name)
                case Distrust(member, reason):
                    raise AssertionError(f"{process.name} does not take what {member} has sent: {reason}")
                case Stuck(reason):
                    self.stuck.append(f"{process.name}: {reason}")
                case _:
                    process.jobs.append(effect)
        if process.jobs and not process.busy:
            process.busy = True
            self.at(self.random.uniform(0, self.applying), lambda: self._work(process))

    def _work(self, process: Process) -> None:
        """One of the servant's jobs."""
        if process.paused_until > self.now:
            self.at(process.paused_until - self.now, lambda: self._work(process))
            return
        process.busy = False
        if not process.alive:
            return
        outcome = Outcome(0, 0, b"")
        match process.jobs.popleft():
            case Apply(version, body):
                self._applied(process, version, body.origin)
                outcome = Outcome(0, 0, body.payload)
            case RestoreState(snapshot):
                process.state, at = json.loads(snapshot) if snapshot is not None else ([], (0, 0))
                process.at = tuple(at)
                process.held = {(UUID(int=client), sequence) for client, sequence in process.state}
            case TakeSnapshot():
                outcome = Outcome(0, 0, json.dumps([process.state, process.at]).encode())
        process.replica.done(outcome, self.now)
        self._effects(process)

    def _applied(self, process: Process, version: Version, origin: Origin) -> None:
        """What must hold each time that a servant applies a message."""
        made, key = (origin.client, origin.sequence), key_of(version)
        entry = [origin.client.int, origin.sequence]
        if key != (0, 0):
            assert key > process.at, f"{process.name} applies {key} behind {process.at}"
            assert self.contents.setdefault(key, made) == made, f"two messages have the version {key}"
            process.at = key
        assert made not in process.held, f"{process.name} applies {made} twice"
        process.held.add(made)
        process.state.append(entry)

    # The controller

    def _ask_for_lead(self, name: str) -> None:
        if name not in self._queue:
            self._queue.append(name)
        if self.leader is None:
            self.at(0.01 + self._delay(), self._grant)

    def _grant(self) -> None:
        while self.leader is None and self._queue:
            process = self.processes.get(self._queue.pop(0))
            if process is not None:
                self.leader = process
                self.epoch += 1
                process.replica.lead(self.epoch, self.now)
                self._effects(process)

    def take_lead_away(self, unnoticed_for: float) -> None:
        """The controller loses the record of the lead; the process that has it asks for it again when it
        notices that."""
        process = self.leader
        if process is None:
            return
        self.leader = None
        self.at(0.01, self._grant)

        def notice() -> None:
            if process.alive:
                self._ask_for_lead(process.name)

        self.at(unnoticed_for, notice)

    def _lose_lead(self, process: Process, delay: float) -> None:
        if self.leader is process:
            self.leader = None
            self.at(delay + 0.01, self._grant)

    # What is asked in tests

    def ready(self) -> bool:
        """Whether there is a versioning server, and all present members have its log."""
        leader = self.leader
        return (
            leader is not None
            and leader.replica.versioner is not None
            and leader.replica.versioner.ready
            and all(
                each.replica.is_normal and each.replica.normal == self.epoch
                for each in self.processes.values()
            )
        )

    def settled(self) -> bool:
        heads = {
            (key_of(each.replica.log.head.version), each.replica.log.head.mark)
            for each in self.processes.values()
        }
        return (
            self.ready()
            and len(heads) == 1
            and all(not each.jobs and not each.busy for each in self.processes.values())
        )

    def calmed(self) -> None:
        """No more faults: what is gone comes back, and everything arrives."""
        self.network = replace(self.network, lost=0.0, repeated=0.0)
        self.heal()
        for name in self.names:
            if name not in self.processes:
                self.start(name)


def sorted_names(pair: frozenset[PeerId]) -> list[str]:
    return sorted(map(str, pair))
