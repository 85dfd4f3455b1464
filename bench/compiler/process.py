"""Measures one run of a program: its time, its processor time, and its peak memory."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.child import BenchError


@dataclass(frozen=True, slots=True)
class Cost:
    ms: float
    cpu_ms: float
    peak_mb: float

    def metrics(self) -> dict[str, float | None]:
        return {"ms": self.ms, "cpu_ms": self.cpu_ms, "peak_mb": self.peak_mb}


def cost(command: Sequence[str], env: Mapping[str, str] | None = None) -> Cost:
    """Runs a program to its end. The kernel's figures include child processes that the program waited for."""
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=env)
        _, status, usage = os.wait4(process.pid, 0)
        ms = (time.perf_counter() - start) * 1e3
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            said.seek(0)
            text = said.read().decode("utf-8", "replace")[-2000:]
            raise BenchError(f"{' '.join(command)} ended with {process.returncode}: {text}")
    return Cost(ms, (usage.ru_utime + usage.ru_stime) * 1e3, usage.ru_maxrss / 1024)
