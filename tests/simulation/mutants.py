"""Proves that the simulation notices: breaks a copy of the Python runtime by hand, one mistake at a time, and
runs seeds until one breaks a rule. docs/simulation.md has the list. `python -m tests.simulation.mutants`.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.simulation.python_side import HERE, ROOT, generate_stubs, simulate

SEEDS = 1000


class Mutant(NamedTuple):
    what: str
    file: str
    right: str
    wrong: str


MUTANTS = (
    Mutant(
        "a call that may have run is tried again, idempotent or not",
        "protocol/call.py",
        "may = self.method.idempotent and not self.in_order and code in _BUDGETED",
        "may = code in _BUDGETED",
    ),
    Mutant(
        "a call whose connection ended is reported as not executed",
        "protocol/client_session.py",
        "return call.end > self.queued - self.out_bytes",
        "return True",
    ),
    Mutant(
        "a server answers each call twice",
        "server/connection.py",
        "                if call.reply_entries is None:\n",
        "                self.session.reply(call.id, call.route, status, encoding, call.count, payload)\n"
        "                if call.reply_entries is None:\n",
    ),
    Mutant(
        "the cancellation of a call is forgotten at the server",
        "server/connection.py",
        "            self.end_early(call, _Event.CANCELLED,",
        "            0 and self.end_early(call, _Event.CANCELLED,",
    ),
    Mutant(
        "the replies of two calls are crossed",
        "protocol/client_session.py",
        "call = by_id.get(id_)\n                if (\n",
        "call = by_id.get(id_ ^ 1, by_id.get(id_))\n                if (\n",
    ),
    Mutant(
        "a client does not look at deadlines",
        "link/async_link.py",
        "            if call.deadline <= now:\n",
        "            if call.deadline + 5.0 <= now:\n",
    ),
    Mutant(
        "one-way calls that wait for others are run in the wrong order",
        "server/connection.py",
        "self._ordered.append(call)",
        "self._ordered.appendleft(call)",
    ),
    Mutant(
        "handlers go on when their connection has ended",
        "server/dispatch_async.py",
        "        self._task.cancel()\n",
        "        pass\n",
    ),
    Mutant(
        "a closed client leaves its connections open",
        "link/async_pool.py",
        "                link.close()\n            if place.attempt",
        "                pass\n            if place.attempt",
    ),
)


def main() -> int:
    survived = 0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        generate_stubs(HERE / "simulation.mfidl", folder / "stubs")
        for mutant in MUTANTS:
            shutil.rmtree(folder / "runtime", ignore_errors=True)
            shutil.copytree(ROOT / "runtime" / "python", folder / "runtime")
            path = folder / "runtime" / "mf" / mutant.file
            text = path.read_text()
            if text.count(mutant.right) != 1:
                print(f"OUT OF DATE: {mutant.what}: not once in {mutant.file}", flush=True)
                survived += 1
                continue
            path.write_text(text.replace(mutant.right, mutant.wrong))
            done = simulate(folder / "stubs", ["--count", str(SEEDS)], None, folder / "runtime")
            found = (done.stdout + done.stderr).strip().splitlines()
            survived += done.returncode == 0
            verdict = "SURVIVED" if done.returncode == 0 else "found"
            print(f"{verdict}: {mutant.what}: {' '.join(found[:2])}", flush=True)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
