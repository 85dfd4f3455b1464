"""R9. What tests of programs that are clients or servers need (docs/testing.md). C++ has the same names in
`mf::testing`. The fixtures of pytest are in mf.testing.pytest_plugin.
"""

from mf.testing.channel import AsyncChannel, Channel, new_name
from mf.testing.clock import FakeClock
from mf.testing.controller import FakeController
from mf.testing.faults import Faults, Operation
from mf.testing.loop import StuckError, VirtualLoop, run
from mf.testing.network import MemoryNetwork, Weather
from mf.testing.recorded import recorded, recorded_calls
from mf.testing.script import Call, Recorder, script

__all__ = [
    "AsyncChannel",
    "Call",
    "Channel",
    "FakeClock",
    "FakeController",
    "Faults",
    "MemoryNetwork",
    "Operation",
    "Recorder",
    "StuckError",
    "VirtualLoop",
    "Weather",
    "new_name",
    "recorded",
    "recorded_calls",
    "run",
    "script",
]
