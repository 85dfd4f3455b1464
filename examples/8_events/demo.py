"""An index publishes additions; two counters keep a count of each collection. One, in C++, asks for all of
them (`block`), and gets them; the other one, in Python, asks for the latest (`drop_oldest`), and is stopped
for a while: no publisher waits for it, and all that it has missed is counted.

    python demo.py [--through relay] [ADDITIONS]

Through a relay the index sees the relay's two subscriptions, one a policy; what the stopped counter misses is
counted there.
"""

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BUILT = Path(os.environ.get("MF_BUILD_DIR", HERE.parents[1] / "build" / "release"))
ANYWHERE = "tcp://127.0.0.1:0"


def start(*command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def python(name: str, *arguments: str) -> subprocess.Popen[str]:
    return start(sys.executable, str(HERE / name), *arguments)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    print(file=process.stdin, flush=True)


def show(process: subprocess.Popen[str], lines: int) -> None:
    for _ in range(lines):
        print(" ", line(process))


def binary(name: str, *options: str) -> subprocess.Popen[str]:
    return start(str(BUILT / name), "--listen", ANYWHERE, "--log-level", "warning", *options)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("count", nargs="?", default="30000")
    parser.add_argument("--through", choices=["relay"])
    options = parser.parse_args()
    count = options.count
    processes: list[subprocess.Popen[str]] = []
    known: list[str] = []
    try:
        if options.through:
            processes.append(binary("mf-controller"))
            known = [line(processes[0])]
        index = python("index.py", ANYWHERE, "2", count, *known)
        processes.append(index)
        address = line(index)
        if options.through:
            processes.append(binary("mf-relay", "--controller", known[0]))
            address = line(processes[-1])
        counters = {
            "all of them": start(str(BUILT / "examples/8_events/events-counter"), address, "block", "1000"),
            "the latest": python("counter.py", address, "drop_oldest", "100"),
        }
        processes += counters.values()
        line(index)
        counters["the latest"].send_signal(signal.SIGSTOP)
        print(f"{count} additions, while the counter of the latest is stopped:")
        tell(index)
        show(index, 4)
        counters["the latest"].send_signal(signal.SIGCONT)
        print("it goes on:")
        tell(index)
        show(index, 4)
        for wants, counter in counters.items():
            print(f"the counter of {wants}:")
            show(counter, 3)
        for process in (*counters.values(), index):
            tell(process)
            process.wait(60)
    finally:
        for process in processes:
            process.kill()


if __name__ == "__main__":
    main()
