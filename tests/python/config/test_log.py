"""The log of a program on standard error."""

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mf
import mf.config
from mf.core import log
from tests.python.core.test_log import wait_until_written

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.fixture(autouse=True)
def logger_as_it_was() -> Iterator[None]:
    logger = logging.getLogger("mf")
    before = logger.handlers, logger.propagate, logger.level
    yield
    logger.handlers, logger.propagate = before[0], before[1]
    logger.setLevel(before[2])


def written(capsys: pytest.CaptureFixture[str]) -> list[str]:
    wait_until_written()
    return capsys.readouterr().err.splitlines()


def test_text_has_time_level_event_and_fields(capsys: pytest.CaptureFixture[str]) -> None:
    mf.config.set_up_log("info")
    log.info("%s", log.line("token_keys_read", file="a b", keys=2))
    log.warning("%s is late", "it")
    [event, sentence] = written(capsys)

    assert TIME.sub("T", event) == 'T info token_keys_read file="a b" keys=2'
    assert TIME.sub("T", sentence) == "T warning it is late"


def test_json_has_the_same_as_members(capsys: pytest.CaptureFixture[str]) -> None:
    mf.config.set_up_log(format="json")
    log.info("%s", log.line("token_keys_read", file='a "b"\n', keys=2))
    log.warning("%s is late", "it")
    [event, sentence] = map(json.loads, written(capsys))

    assert TIME.fullmatch(event.pop("time"))
    assert event == {"level": "info", "event": "token_keys_read", "file": 'a "b"\n', "keys": "2"}
    assert (sentence["level"], sentence["message"]) == ("warning", "it is late")


def test_a_traceback_makes_no_line_that_looks_like_another_one(capsys: pytest.CaptureFixture[str]) -> None:
    forged = "no\n2026-01-01T00:00:00.000Z error forged"
    for format_ in ("text", "json"):
        mf.config.set_up_log(format=format_)
        log.error("%s failed", "a\nb", exc_info=ValueError(forged))
        lines = written(capsys)
        if format_ == "json":
            assert forged in json.loads(lines[0])["trace"]
            assert len(lines) == 1
        else:
            assert TIME.sub("T", lines[0]) == "T error a\\nb failed"
            assert all(each.startswith("  ") for each in lines[1:])
            assert any("forged" in each for each in lines[1:])


def test_the_level_decides_and_may_be_changed(capsys: pytest.CaptureFixture[str]) -> None:
    for level, count in (("debug", 3), ("warning", 2), ("error", 1), ("off", 0), ("info", 3)):
        mf.config.set_up_log(level)
        log.info("a")
        log.warning("b %s", level)
        log.error("c")

        assert len(written(capsys)) == count
    with pytest.raises(ValueError, match="level is 'loud': give one of debug, info"):
        mf.config.set_up_log("loud")


def test_a_file_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "F"
    file.write_text('[log]\nlevel = "error"\nformat = "json"\n')
    mf.config.load(file, environment={}).set_up_log()
    log.warning("not written")
    log.error("written")

    [line] = written(capsys)
    assert json.loads(line)["message"] == "written"


@pytest.mark.parametrize("is_journal", [True, False])
def test_the_journal_gets_priorities(tmp_path: Path, is_journal: bool) -> None:
    program = (
        "import mf.config; from mf.core import log; mf.config.set_up_log(); log.warning('a'); "
        "log.error('b', exc_info=ValueError('c'))"
    )
    with (tmp_path / "errors").open("w+") as errors:
        found = os.fstat(errors.fileno())
        stream = f"{found.st_dev}:{found.st_ino + (not is_journal)}"
        environment = {**os.environ, "JOURNAL_STREAM": stream}
        command = [sys.executable, "-c", program]
        subprocess.run(command, stderr=errors, env=environment, check=True, timeout=60)
        errors.seek(0)
        lines = errors.read().splitlines()

    begins = [each[:3] for each in lines if "ValueError" not in each]
    assert begins == (["<4>", "<3>"] if is_journal else ["202", "202"])
    assert lines[-1].startswith("<3>  ValueError" if is_journal else "  ValueError")
