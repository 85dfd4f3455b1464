"""An index publishes additions; two counters keep a count of each collection. One, in C++, asks for all of
them (`block`), and gets them; the other one, in Python, asks for the latest (`drop_oldest`), and is stopped
for a while: nobody waits for it, and all that it has missed is counted.

    python demo.py [ADDITIONS]
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BUILT = Path(os.environ.get("MF_BUILD_DIR", HERE.parents[1] / "build" / "release")) / "examples" / "8_events"


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


def main() -> None:
    count = sys.argv[1] if len(sys.argv) > 1 else "30000"
    index = python("index.py", "tcp://127.0.0.1:0", "2", count)
    address = line(index)
    counters = {
        "all of them": start(str(BUILT / "events-counter"), address, "block", "1000"),
        "the latest": python("counter.py", address, "drop_oldest", "100"),
    }
    processes = [index, *counters.values()]
    try:
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
        for process in reversed(processes):
            tell(process)
            process.wait(60)
    finally:
        for process in processes:
            process.kill()


if __name__ == "__main__":
    main()
