"""Brokers of Kafka, played by librdkafka in a process of their own (mock_kafka.cpp), which a test takes away
and gives back. They keep what they have while they are away; none outlives its test.
"""

import os
from pathlib import Path

from tests.interop.peers import BUILD, Server

TOPIC = "ledgers.Entries"


class Kafka:
    def __init__(self, folder: Path, brokers: int = 3) -> None:
        binary = BUILD / "tests" / "bridge" / "mf_mock_kafka"
        assert binary.is_file(), f"{binary} is missing: tools/bootstrap bridge, then build mf_mock_kafka"
        command = [str(binary), str(brokers), TOPIC, "4"]
        self._process = Server(command, dict(os.environ), folder / "kafka.stderr")
        self.url = self._process.address

    def kill(self) -> None:
        """No broker answers from now on."""
        self._ask("down")

    def start(self) -> None:
        self._ask("up")

    def refuse(self, code: int, count: int) -> None:
        """So many requests to append fail with this code."""
        self._ask(f"refuse {code} {count}")

    def close(self) -> None:
        self._process.close()

    def _ask(self, command: str) -> None:
        self._process.tell(command)
        assert self._process.line() == "ok"
