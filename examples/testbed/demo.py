"""The report's search testbed on WordNet's glosses: `make demo`, or after a build

.venv/bin/python examples/testbed/demo.py [--per-collection N] [--limit N] [--rounds N]

Ends with 0, with 1 if an answer was wrong or a process failed, with 130 after a Ctrl-C; at the latest after
--seconds. Writes into a temporary folder only and removes it; leaves no process behind.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

sys.dont_write_bytecode = True

from driver.child import Children, DemoError  # noqa: E402 - what the line above is about
from driver.scenario import Scenario, Settings  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCHEMAS = ("text", "index", "document")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The report's search testbed on WordNet's glosses")
    parser.add_argument("--per-collection", type=int, default=20_000, metavar="N", help="documents at most")
    parser.add_argument("--limit", type=int, default=500, metavar="N", help="documents fetched per query")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="the median of so many is shown")
    parser.add_argument(
        "--seconds", type=int, default=170, metavar="N", help="the demo gives up after so many"
    )
    return parser.parse_args()


def find_programs() -> tuple[Path, Path]:
    build = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build" / "release"))
    programs, controller = build / "examples" / "testbed", build / "mf-controller"
    for program in (controller, programs / "testbed-main"):
        if not program.is_file():
            raise DemoError(f"{program} is not built; run make demo, or cmake --build --target demo")
    return programs, controller


def compile_schemas(folder: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "mfidl", "compile", "--import-path", "schema", "--python", str(folder)]
    command += [f"schema/testbed/{name}.mfidl" for name in SCHEMAS]
    done = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise DemoError(f"mfidlc refused the testbed's schemas:\n{done.stdout}{done.stderr}")


def run(arguments: argparse.Namespace, folder: Path) -> None:
    programs, controller = find_programs()
    stubs = folder / "stubs"
    environment = os.environ | {
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(map(str, (stubs, HERE, ROOT, ROOT / "runtime" / "python"))),
    }
    compile_schemas(stubs, environment)
    settings = Settings(programs, controller, arguments.per_collection, arguments.limit, arguments.rounds)
    with Children(folder, environment) as children:
        try:
            Scenario(settings, children, folder, lambda line: print(line, flush=True)).run()
        finally:
            quiet()  # a second Ctrl-C must not stop the cleaning up, which is bounded


def quiet() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def stop(number: int, _frame: FrameType | None) -> None:
    if number == signal.SIGALRM:
        raise DemoError("the demo took too long; --seconds gives it more time")
    raise KeyboardInterrupt


def main() -> int:
    arguments = parse_arguments()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, stop)
    signal.alarm(arguments.seconds)
    start = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="mf-testbed-"))
    try:
        run(arguments, folder)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except DemoError as error:
        print(f"\ndemo: {error}", file=sys.stderr)
        return 1
    finally:
        quiet()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\nAll answers are those of the plain index. {time.monotonic() - start:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
