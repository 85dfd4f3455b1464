"""Connections that break at random places, again and again: each message is taken once and in order, or
its sender learns that it was not."""

import os
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from mf import flex
from mf.testing.faults import Operation
from tests.python.flex.test_nodes import LIMIT, Pair

SEEDS = range(int(os.environ.get("MF_FUZZ_RUNS", "0")) or 12)
MESSAGES = 300


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_breaks_each_message_is_taken_once_and_in_order(seed: int) -> None:
    dice = random.Random(seed)
    pair = Pair()
    try:
        for _ in range(dice.randint(1, 6)):
            operation = dice.choice([Operation.WRITE, Operation.READ])
            pair.faults.cut(operation, dice.randint(1, 60))
        if dice.random() < 0.5:
            pair.faults.refuse(dice.randint(1, 3), dice.randint(1, 3))
        senders = [pair.near.process(f"s{n}") for n in range(2)]
        receiver = pair.far.process("B", max_messages=dice.choice([8, 64, 65_536]))
        filling = bytes(dice.choice([0, 100, 20_000]))

        def send(sender: flex.Process) -> list[flex.Sent]:
            return [sender.send(None, LIMIT, dest="B", n=n, filling=filling) for n in range(MESSAGES)]

        with ThreadPoolExecutor(2) as threads:
            sending = [threads.submit(send, sender) for sender in senders]
            got: dict[str, list[int]] = {sender.name: [] for sender in senders}
            for _ in range(2 * MESSAGES):
                message = receiver.recv(LIMIT)
                got[message.src].append(message.n)
            for each in sending:
                for sent in each.result(LIMIT):
                    sent.wait(LIMIT)
        assert got == {sender.name: list(range(MESSAGES)) for sender in senders}
        assert len(receiver) == 0
    finally:
        pair.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_not_taken_is_told_whatever_breaks_before_the_receiver_leaves(seed: int) -> None:
    dice = random.Random(1000 + seed)
    pair = Pair(patience=5.0)
    try:
        pair.faults.cut(dice.choice([Operation.WRITE, Operation.READ]), dice.randint(5, 40))
        sender, receiver = pair.near.process("A"), pair.far.process("B")
        sent = [sender.send(dest="B", n=n) for n in range(50)]
        taken = {receiver.recv(LIMIT).n for _ in range(dice.randint(0, 50))}
        receiver.leave()
        undelivered = set()
        for each in sent:
            try:
                each.wait(LIMIT)
            except flex.Undelivered as lost:
                undelivered.add(lost.messages[0].n)
        assert set(range(50)) - undelivered <= taken  # nothing is said to be taken that was not
        assert {each.messages[0].n for each in sender.undelivered()} == undelivered
    finally:
        pair.close()
