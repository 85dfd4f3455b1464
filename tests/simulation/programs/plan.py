"""What a seed determines: the weather, the work and the faults of one run, drawn before it begins. Each has a
random source of its own, so that a run with some of its faults only has the same work.
"""

from dataclasses import dataclass, field
from random import Random

SERVERS = ("s0", "s1", "s2")
CONTROLLER = "ctl"
PLACES = {"north": ("s0", "s1"), "south": ("s1", "s2"), "east": ("s0",)}
FAULTS_UNTIL = 12.0
"""Virtual seconds in which faults begin; all are over when they have lasted."""


@dataclass(frozen=True)
class Step:
    """One thing that a client does, some seconds after the one before."""

    kind: str
    pause: float
    place: str
    deadline: float | None
    nap: int = 0
    refuse: bool = False
    size: int = 1
    filler: int = 0
    gives_up_after: float | None = None


@dataclass(frozen=True)
class Fault:
    """`at`: virtual seconds after the start. The fault is of one host, or of two."""

    kind: str
    at: float
    whom: tuple[str, ...]
    lasts: float = 0.0

    def __str__(self) -> str:
        lasts = f" for {self.lasts:.3f} s" if self.lasts else ""
        return f"{self.at:.3f} s: {self.kind} {' '.join(self.whom)}{lasts}"


@dataclass
class Plan:
    seed: int
    latency: float
    spread: float
    largest_piece: int
    clients: dict[str, list[Step]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)


# How often a client does what.
_WORK = {
    "plain": 8,
    "again": 6,
    "tell": 6,
    "batch": 3,
    "bulk": 2,
    "scatter": 3,
    "down": 4,
    "up": 4,
    "both": 4,
    "leave": 2,
}
_FAULTS = {
    "cut": 5,
    "part": 3,
    "stop": 4,
    "kill": 4,
    "restart": 2,
    "slow": 2,
    "close": 1,
    "silence": 2,
    "forget": 2,
    "lost": 2,
    "operation": 2,
}


def plan_of(seed: int) -> Plan:
    weather = Random(f"weather {seed}")
    plan = Plan(
        seed,
        latency=weather.choice((0.0001, 0.001, 0.02)),
        spread=weather.choice((0.0, 0.01, 0.3)),
        largest_piece=weather.choice((0, 0, 1, 7, 100, 5000)),
    )
    work = Random(f"work {seed}")
    for number in range(work.randint(1, 3)):
        plan.clients[f"c{number}"] = [_step(work) for _ in range(work.randint(4, 20))]
    faults = Random(f"faults {seed}")
    for _ in range(faults.choice((0, 1, 2, 3, 5, 8))):
        plan.faults.append(_fault(faults, tuple(plan.clients)))
    plan.faults.sort(key=lambda fault: fault.at)
    return plan


def _drawn(random: Random, weights: dict[str, int]) -> str:
    return random.choices(list(weights), list(weights.values()))[0]


def _step(random: Random) -> Step:
    kind = _drawn(random, _WORK)
    return Step(
        kind,
        pause=random.choice((0.0, 0.0, 0.001, 0.05, 1.0)),
        place=random.choice(tuple(PLACES)),
        deadline=random.choice((0.05, 0.4, 2.0, 2.0, 10.0, 10.0, None)),
        nap=random.choice((0, 0, 0, 1, 20, 500, 3000, 25_000)),
        refuse=random.random() < 0.2,
        size=random.choice(
            (1, 2, 5, 40) if kind in ("batch", "bulk", "down", "up", "both", "leave") else (1,)
        ),
        filler=random.choice((0, 0, 0, 10, 3000, 90_000)),
        gives_up_after=random.choice((None, None, None, None, 0.0, 0.002, 0.3)),
    )


def _fault(random: Random, clients: tuple[str, ...]) -> Fault:
    kind = _drawn(random, _FAULTS)
    server = random.choice(SERVERS)
    client = random.choice(clients)
    whom: tuple[str, ...] = {
        "cut": (client, server),
        "part": (client, server),
        "stop": (random.choice((client, server)),),
        "kill": (server,),
        "restart": (server,),
        "close": (client,),
        "silence": (CONTROLLER,),
        "forget": (CONTROLLER,),
        "lost": (random.choice((client, server)), CONTROLLER),
    }.get(kind, ())
    lasts = {"operation": float(random.randint(0, 400))}.get(kind, random.choice((0.01, 0.3, 2.0, 9.0, 14.0)))
    at = random.random() ** 2 * FAULTS_UNTIL
    return Fault(kind, at, whom, 0.0 if kind in ("cut", "close") else lasts)
