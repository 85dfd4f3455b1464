"""What `make bench-where` runs: in which functions a call's instructions are spent, in both processes, and
how its time divides between the two programs and the kernel; and how many instructions each kind of call
takes where both schemas are equal, and where the server's is a later one.

Instructions are counted by valgrind's callgrind in two runs of different lengths: their difference, divided
by the difference in calls, leaves out starting, warming up and ending. Counting is exact, so one pair of runs
is enough. It does not cover the kernel, whose share is taken from the processor clocks of runs without
valgrind.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from harness.child import BenchError, output_of
from harness.interleaved import SAME, cores
from harness.pair import Pair, System
from harness.rows import Samples

NAME = "where"
CHART = {"unary_i32": "instructions", "pipelined_128": "instructions"}

_WORKS = {"unary_i32": (10_000, 30_000), "pipelined_128": (50_000, 150_000)}
# Further kinds of calls, of which only the sum is printed; short and long runs as above. `True`: the server
# with a later schema has the method, too (bench/rpc/later).
_KINDS = {
    "unary_i32": (4_000, 12_000, True),
    "unary_look_up": (4_000, 12_000, True),
    "pipelined_128": (20_000, 60_000, True),
    "independent_100k": (10_000, 40_000, True),
    "batch_100k": (10_000, 40_000, True),
    "batch_100k/message": (10_000, 40_000, True),
    "batch_100k/list": (10_000, 40_000, False),
    "server_stream_100b": (20_000, 80_000, False),
    "client_stream_100b": (20_000, 80_000, False),
}
_WARMED = 1.1  # a tenth of the calls is made to warm up
_TIMED = {"unary_i32": 200_000, "pipelined_128": 4_000_000}
_SHOWN = 12
# The first pattern that is found in a function's name decides to which part of a call it belongs.
_PARTS = (
    ("locks", r"pthread_mutex|unique_lock"),
    ("Asio and the reactor", r"asio|Reactor|epoll|tss|asynccancel"),
    ("link", r"mf::link::"),
    ("session: frames", r"mf::protocol::"),
    ("asynchronous call", r"AsyncCall|client::start|launch|UniqueFunction|Failure"),
    (
        "target: route, deadline, budget",
        r"client::(Target|Context|settle|take_scratch|give_scratch)|CallOptions",
    ),
    ("server: offer, order, placement", r"server::(Connection|Ticket)"),
    ("stub, codec and handler", r"mf::client|mf::server|bench"),
    ("memory", r"malloc|free|operator|mem(cpy|set|move)|mf::(Buffer|Bytes)"),
    ("socket", r"transport::|recv|send"),
    ("clock", r"clock|now"),
)
_LINE = re.compile(r"^\s*([\d,]+)\s+\S+?:(.+)$")
_LIMIT_SECONDS = 60


def run(build: Path, quick: bool, samples: Samples, _failures: list[str]) -> None:
    programs = build / "bench"
    if shutil.which("valgrind") is None:
        raise BenchError("valgrind is not installed")
    for work, counts in _WORKS.items():
        for name in ("raw", "mf"):
            _divide(_system(programs, name), work, _TIMED[work] // (4 if quick else 1), samples)
        for end, spent in _spent(_system(programs, "mf"), work, counts).items():
            _tell(work, end, spent, samples)
    print("instructions a call, client + server, of handlers that run where the request was read:")
    for work, (fewer, more, adapts) in _KINDS.items():
        said = []
        for name in ("mf/equal", "mf/later") if adapts else ("mf/equal",):
            sums = {
                end: sum(spent.values())
                for end, spent in _spent(_system(programs, name), work, (fewer, more)).items()
            }
            for end, count in sums.items():
                samples.add(work, SAME, f"{name}/{end}", {"instructions": count})
            said.append(" + ".join(f"{count:,.0f}" for count in sums.values()))
        print(f"  {work}: equal schemas " + "; a later schema ".join(said))


def _system(programs: Path, name: str) -> System:
    if name == "raw":
        return System(name, [str(programs / "bench-raw"), "server"], [str(programs / "bench-raw"), "client"])
    server = {"mf": ["bench-mf-server", "default"], "mf/equal": ["bench-mf-server", "tcp"]}
    program, *way = server.get(name, ["bench-mf-later"])
    return System(name, [str(programs / program), *way], [str(programs / "bench-mf-client")])


def _divide(system: System, work: str, count: int, samples: Samples) -> None:
    """The processor time of a call in the programs and in the kernel; that clock is coarse."""
    with Pair(system, cores(SAME)) as pair:
        if not pair.prepare(work, count):
            return
        before = [_times(pid) for pid in (pair.client.pid, pair.server.pid)]
        pair.go()
        after = [_times(pid) for pid in (pair.client.pid, pair.server.pid)]
    for end, then, now in zip(("client", "server"), before, after, strict=True):
        program, kernel = ((b - a) * 1e6 / count for a, b in zip(then, now, strict=True))
        samples.add(work, SAME, system.name, {f"{end}_program_us": program, f"{end}_kernel_us": kernel})


def _times(pid: int) -> tuple[float, float]:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    tick = os.sysconf("SC_CLK_TCK")
    return int(fields[11]) / tick, int(fields[12]) / tick


def _spent(system: System, work: str, counts: tuple[int, int]) -> dict[str, dict[str, float]]:
    """The instructions of one call by function, of each end: the difference of two runs."""
    with tempfile.TemporaryDirectory() as folder:
        short, long = (_counted(system, work, count, Path(folder)) for count in counts)
    calls = (counts[1] - counts[0]) * _WARMED
    return {
        end: {
            name: (long[end][name] - short[end][name]) / calls
            for name in short[end].keys() | long[end].keys()
        }
        for end in ("client", "server")
    }


def _counted(plain: System, work: str, count: int, folder: Path) -> dict[str, dict[str, float]]:
    def under_valgrind(end: str, command: Sequence[str]) -> list[str]:
        out = folder / f"{end}-{count}"
        return ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command]

    server, client = under_valgrind("server", plain.server), under_valgrind("client", plain.client)
    with Pair(System(plain.name, server, client), cores(SAME)) as pair:
        if not pair.prepare(work, count):
            raise BenchError(f"{plain.name} does not know {work}")
        pair.go()
    return {end: _by_function(folder / f"{end}-{count}") for end in ("client", "server")}


def _by_function(profile: Path) -> dict[str, float]:
    said = output_of(
        ["callgrind_annotate", "--threshold=100", "--show-percs=no", str(profile)], _LIMIT_SECONDS
    )
    found: dict[str, float] = defaultdict(float)
    for line in said.splitlines():
        if match := _LINE.match(line):
            found[_short(match[2])] += int(match[1].replace(",", ""))
    return found


def _short(function: str) -> str:
    """The name without the object file, template arguments, parameters and callgrind's recursion numbers."""
    name = re.sub(r"\s+\[[^]]*\]$", "", function)
    name = re.sub(r"'\d+", "", name).replace("(anonymous namespace)::", "")
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    name = name.split("(")[0].split(" const")[0]
    return name.rsplit(" ", 1)[-1]


def _tell(work: str, end: str, spent: dict[str, float], samples: Samples) -> None:
    total = sum(spent.values())
    samples.add(work, SAME, f"mf/{end}", {"instructions": total})
    print(f"{work}, {end}: {total:.0f} instructions a call")
    parts: dict[str, float] = defaultdict(float)
    for name, count in spent.items():
        parts[next((part for part, known in _PARTS if re.search(known, name)), "other")] += count
    for part, count in sorted(parts.items(), key=lambda item: -item[1]):
        print(f"  {count:7.0f}  {part}")
    print("  of which, by function:")
    for name, count in sorted(spent.items(), key=lambda item: -item[1])[:_SHOWN]:
        print(f"    {count:7.0f}  {name}")
