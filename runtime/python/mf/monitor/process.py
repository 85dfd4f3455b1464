"""R3. What the system says of this process."""

import os
import resource
from contextlib import suppress
from pathlib import Path

from mf.core.exposition import Exposition


def expose_process(out: Exposition) -> None:
    """The figures of this process: processor time, memory, descriptors, start."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    text = "Processor time of the process, of users and system."
    out.counter("process_cpu_seconds", text, used.ru_utime + used.ru_stime)
    page = resource.getpagesize()
    with suppress(OSError):
        pages, resident = map(int, Path("/proc/self/statm").read_text().split()[:2])
        out.gauge("process_virtual_memory_bytes", "Size of the address space.", pages * page)
        out.gauge("process_resident_memory_bytes", "Memory of the process that is in RAM.", resident * page)
    with suppress(OSError):
        out.gauge("process_open_fds", "Open file descriptors.", len(os.listdir("/proc/self/fd")))  # noqa: PTH208
    text = "How many file descriptors the process may open."
    out.gauge("process_max_fds", text, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    with suppress(OSError, StopIteration):
        lines = Path("/proc/stat").read_text().splitlines()
        booted = next(int(line.split()[1]) for line in lines if line.startswith("btime "))
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        started = booted + ticks / os.sysconf("SC_CLK_TCK")
        out.gauge("process_start_time_seconds", "When the process was started, since 1970.", started)
