"""Recordings of `mf record`, read by tests."""

import json
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.described import RecordedMessage, Recording
from mf.health import Report, State
from mf.testing import recorded

HEAD = {
    "mf_recording": 1,
    "topic": "shop.News",
    "descriptor": "topic",
    "annex": "",
    "begun": "2026-01-01T00:00:00Z",
}


def line(seconds: float, agent: str, value: Any) -> str:
    return json.dumps({"t": seconds, "agent": agent, "value": value}) + "\n"


def written(folder: Path, *lines: str, head: Any = HEAD) -> Path:
    path = folder / "news.rec"
    path.write_text(json.dumps(head) + "\n" + "".join(lines))
    return path


def test_messages_have_times_agents_and_values_of_their_type(tmp_path: Path) -> None:
    serving, silent = {"state": "serving", "reasons": []}, {"state": "not_serving", "reasons": ["it stops"]}
    path = written(tmp_path, line(0, "a", serving), line(1.5, "b", silent))
    assert list(recorded(path, Report)) == [
        RecordedMessage(0.0, "a", Report(State.serving, [])),
        RecordedMessage(1.5, "b", Report(State.not_serving, ["it stops"])),
    ]


def test_a_recording_is_read_more_than_once(tmp_path: Path) -> None:
    recording = Recording(written(tmp_path, line(0, "", 1), line(1, "", 2)))
    assert [each.value for each in recording] == ["1", "2"]
    assert [each.value for each in recording] == ["1", "2"]
    assert recording.description.name == "shop.News"


def test_a_last_line_that_was_cut_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, line(0, "", 1), line(1, "", 2)[:-4])
    assert [each.value for each in Recording(path)] == ["1"]


def test_a_line_that_is_no_message_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, line(0, "", 1), "nonsense\n", line(1, "", 2))
    with pytest.raises(ValueError, match=r"news.rec': line 3 is no message"):
        list(Recording(path))


@pytest.mark.parametrize("head", [{}, [], {"mf_recording": 2}, {"mf_recording": 1}, None])
def test_another_file_is_no_recording(tmp_path: Path, head: Any) -> None:
    with pytest.raises(ValueError, match="is no recording of `mf record`"):
        Recording(written(tmp_path, head=head))


def test_a_value_of_another_type_is_refused_where_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, line(0, "", {"state": "serving", "reasons": 7}))
    with pytest.raises(mf.DecodeError, match="reasons"):
        list(recorded(path, Report))
