"""Python clients that are interrupted by Ctrl-C at random moments, or forked in the middle of calls."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

COMMON = """
import asyncio, os, random, signal, sys, threading, time
import mf
from tests.python.conftest import Recorder
from tests.python.echo import EchoAsyncClient, EchoClient

server = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=2.0))
server.offer(Recorder(), agent="a", inline=True)
server.start()
random.seed(int(sys.argv[1]))
SOON = mf.CallOptions(deadline=20)
"""

# SIGALRM does what Ctrl-C does, and comes when the timer says so: somewhere in a loop of calls.
BLOCKING = """
signal.signal(signal.SIGALRM, signal.default_int_handler)
client = mf.Client(server.address)
echo = EchoClient(client).at("a")
assert echo.twice(1) == 2
interrupted = wrong = 0
for _ in range(300):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 2e-3))
        while True:
            if echo.twice(21) != 42:
                wrong += 1
    except KeyboardInterrupt:
        interrupted += 1
    if echo.twice(2, options=SOON) != 4:
        wrong += 1
client.close()
print(interrupted, wrong, flush=True)
os._exit(0)  # what an interrupt left of a server's thread is not asked here
"""

# asyncio turns Ctrl-C into the end of the main task; the next program of the same process works.
AWAITED = """
interrupted = wrong = 0

async def call(client, x):
    return await EchoAsyncClient(client).at("a").twice(x, options=SOON)

async def main():
    global wrong
    async with mf.AsyncClient(server.address) as client:
        loop = asyncio.get_running_loop()
        assert await call(client, 1) == 2
        loop.call_later(random.uniform(1e-5, 5e-3), os.kill, os.getpid(), signal.SIGINT)
        while True:
            if sum(await asyncio.gather(*(call(client, i) for i in range(8)))) != 56:
                wrong += 1

async def cancelled_within():
    '''Tasks that are cancelled at random moments, on one client.'''
    global wrong
    async with mf.AsyncClient(server.address) as client:
        for _ in range(200):
            task = asyncio.create_task(call(client, 3))
            await asyncio.sleep(random.choice((0, 0, 1e-4, 1e-3)))
            task.cancel()
            await asyncio.wait([task])
            if await call(client, 4) != 8:
                wrong += 1

for _ in range(40):
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        interrupted += 1
asyncio.run(cancelled_within())
print(interrupted, wrong, flush=True)
os._exit(0)
"""

# A thread of the parent calls while the process is forked four times; all five go on with the same client.
FORKED = """
client = mf.Client(server.address)
echo = EchoClient(client).at("a")
assert echo.twice(1) == 2

def calls(first):
    return sum(echo.twice(x, options=SOON) != 2 * x for x in range(first, first + 400))

wrong = []
thread = threading.Thread(target=lambda: wrong.append(calls(0)))
thread.start()
children = []
for number in range(1, 5):
    child = os.fork()
    if child == 0:
        os._exit(min(calls(number * 1_000_000), 99))
    children.append(child)
thread.join(60)
ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
print(wrong, ends, echo.twice(21), flush=True)
os._exit(0)
"""


def run(program: str, seed: int) -> str:
    done = subprocess.run(
        [
            "setpriv",
            "--pdeathsig",
            "KILL",
            "--",
            sys.executable,
            "-W",
            "ignore",
            "-c",
            COMMON + program,
            str(seed),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_client_works_on_after_interrupts_at_random_moments(seed: int) -> None:
    assert run(BLOCKING, seed) == "300 0\n"


@pytest.mark.parametrize("seed", [1, 2])
def test_asyncio_clients_work_on_after_interrupts_at_random_moments(seed: int) -> None:
    assert run(AWAITED, seed) == "40 0\n"


def test_no_reply_goes_to_another_process_after_a_fork() -> None:
    assert run(FORKED, 1) == "[0] [0, 0, 0, 0] 42\n"
