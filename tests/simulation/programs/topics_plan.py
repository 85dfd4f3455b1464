"""What a seed determines in a run of topics: weather and faults as in the other runs (plan.py), in some of
them a controller that is away for a minute, and what is published and read.
"""

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from plan import CONTROLLER, PLACES, Fault, Plan, plan_of

import mf

CALM = "calm"
"""A client that no fault is about and that reads all, at once."""
KEPT, FLEETING = "Kept", "Fleeting"
REPLAY = {KEPT: 8, FLEETING: 0}
"""As simulation.mfidl says."""
AWAY = 60.0
"""Virtual seconds."""


@dataclass(frozen=True)
class Burst:
    """Messages one behind the other, some seconds after those before."""

    pause: float
    topic: str
    count: int
    filler: int
    patience: float


@dataclass(frozen=True)
class Reading:
    """One subscriber. `nap`: the seconds that it takes for a message. `ends`: when it is closed."""

    client: str
    begins: float
    topic: str
    agents: str
    overflow: mf.Overflow
    max_messages: int
    max_bytes: int
    replay: int | None
    nap: float
    ends: float | None

    def __str__(self) -> str:
        bounds = f"{self.max_messages} messages, {self.max_bytes} bytes"
        return f"{self.topic} of {self.agents} ({self.overflow.name}, {bounds}, replay {self.replay})"


@dataclass
class TopicsPlan:
    """`base`: its steps are not taken."""

    base: Plan
    bursts: dict[tuple[str, str], list[Burst]] = field(default_factory=dict)
    """Of each server and place; each run of the server's program begins them anew."""
    readings: list[Reading] = field(default_factory=list)

    def most_bytes(self) -> int:
        """That one server publishes, about."""
        published = Counter[str]()
        for (host, _), bursts in self.bursts.items():
            published[host] += sum(burst.count * burst.filler for burst in bursts)
        return max(published.values())


def topics_plan_of(seed: int) -> TopicsPlan:
    plan = TopicsPlan(plan_of(seed))
    random = Random(f"topics {seed}")
    for place, hosts in PLACES.items():
        for host in hosts:
            plan.bursts[host, place] = [_burst(random) for _ in range(random.randint(2, 6))]
    if random.random() < 0.15:
        plan.base.faults.append(Fault("forget", random.random() * 10.0, (CONTROLLER,), AWAY))
    clients = tuple(plan.base.clients)
    for _ in range(random.randint(2, 8)):
        plan.readings.append(_reading(random, random.choice(clients)))
    plan.readings += [
        Reading(CALM, 0.0, topic, "*", mf.Overflow.block, 1024, 0, None, 0.0, None) for topic in REPLAY
    ]
    return plan


def _burst(random: Random) -> Burst:
    return Burst(
        pause=random.choice((0.0, 0.01, 0.3, 2.0, 5.0)),
        topic=random.choice((KEPT, FLEETING)),
        count=random.choice((1, 2, 5, 20, 60)),
        filler=random.choice((0, 0, 10, 700, 9_000)),
        patience=random.choice((0.05, 1.0, 30.0)),
    )


def _reading(random: Random, client: str) -> Reading:
    return Reading(
        client,
        begins=random.choice((0.0, 0.0, 0.05, 1.0, 4.0)),
        topic=random.choice((KEPT, FLEETING)),
        agents=random.choice((*PLACES, "*", "*")),
        overflow=random.choice(tuple(mf.Overflow)),
        max_messages=random.choice((1, 2, 10, 100, 0)),
        max_bytes=random.choice((0, 0, 0, 1, 5_000)),
        replay=random.choice((None, None, 0, 3)),
        nap=random.choice((0.0, 0.0, 0.001, 0.05, 0.5, 3.0)),
        ends=random.choice((None, None, None, None, 0.5, 6.0)),
    )
