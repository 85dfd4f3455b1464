"""Recordings of `mf record`, read by tests."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.described import CallRecording, Description, RecordedMessage, Recording
from mf.health import Report, State
from mf.health._generated.mf.health import HealthServant
from mf.testing import recorded, recorded_calls

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
    with pytest.raises(ValueError, match=r"news.rec': line 3 \(at byte 145\) is no message"):
        list(Recording(path))


@pytest.mark.parametrize("head", [{}, [], {"mf_recording": "one"}, {"mf_recording": 1}, None])
def test_another_file_is_no_recording(tmp_path: Path, head: Any) -> None:
    with pytest.raises(ValueError, match="is no recording of `mf record`"):
        Recording(written(tmp_path, head=head))


def test_a_value_of_another_type_is_refused_where_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, line(0, "", {"state": "serving", "reasons": 7}))
    with pytest.raises(mf.DecodeError, match="reasons"):
        list(recorded(path, Report))


HEALTH = Description("mf.health.Health", HealthServant.mf_service.descriptor, HealthServant.mf_service.annex)
CHECK = {
    "t": 0,
    "of": 0,
    "service": "mf.health.Health",
    "method": "check",
    "agent": "",
    "arguments": {"service": "shop.Shop"},
    "code": "OK",
    "result": {"state": "not_serving", "reasons": ["it stops"]},
    "took": 0.25,
}
WITHOUT = {key: value for key, value in CHECK.items() if key not in ("arguments", "result", "of")}


def calls(folder: Path, *given: Any) -> Path:
    path = folder / "calls.rec"
    head = [CallRecording.head("2026-01-01T00:00:00Z"), CallRecording.described(0, HEALTH)]
    path.write_text("".join(json.dumps(each) + "\n" for each in (*head, *given)))
    return path


def test_calls_have_arguments_and_results_of_generated_classes(tmp_path: Path) -> None:
    failed = WITHOUT | {"t": 1, "code": "OVERLOADED", "error": "a limit", "arguments": {"service": ""}}
    first, second = recorded_calls(calls(tmp_path, CHECK, failed), HealthServant)
    assert (first.method, first.agent, first.code, first.took) == ("check", "", mf.Code.OK, 0.25)
    assert first.arguments == {"service": "shop.Shop"}
    assert first.result == Report(State.not_serving, ["it stops"])
    assert first.description == HEALTH
    assert (second.seconds, second.code, second.error) == (1.0, mf.Code.OVERLOADED, "a limit")
    assert (second.arguments, second.result, second.description) == ({"service": ""}, None, None)


def test_calls_come_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    path = calls(tmp_path, *(CHECK | {"t": seconds} for seconds in (0.5, -0.25, 2, 0.5)))
    assert [(each.seconds, each.line) for each in CallRecording(path)] == [
        (-0.25, 4),
        (0.5, 3),
        (0.5, 6),
        (2.0, 5),
    ]


def test_calls_without_values_and_of_streams_are_marked(tmp_path: Path) -> None:
    stream = CHECK | {"method": "watch", "stream": True}
    del stream["result"]
    path = calls(tmp_path, WITHOUT, stream | {"t": 1})
    found = list(recorded_calls(path, HealthServant))
    assert [(each.stream, each.arguments, each.result) for each in found] == [
        (False, None, None),
        (True, {"service": "shop.Shop"}, None),
    ]


def test_calls_of_other_services_are_left_out(tmp_path: Path) -> None:
    path = calls(tmp_path, CHECK | {"service": "shop.Shop"}, CHECK)
    assert [each.service for each in recorded_calls(path, HealthServant)] == ["mf.health.Health"]
    assert list(recorded_calls(path)) == []


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"arguments": {"service": 7}}, mf.DecodeError, "service"),
        ({"arguments": {"servant": ""}}, mf.DecodeError, "servant"),
        ({"result": {"state": "well", "reasons": []}}, mf.DecodeError, "state"),
        ({"method": "look"}, ValueError, "line 3: mf.health.Health has no method look"),
        ({"code": "NONE"}, ValueError, r"line 3 \(at byte \d+\) is no call"),
        ({"of": 1}, ValueError, r"line 3 \(at byte \d+\) is no call"),
        ({"t": "soon"}, ValueError, r"line 3 \(at byte \d+\) is no call"),
        ({"t": float("nan")}, ValueError, r"line 3 \(at byte \d+\) is no call"),
        ({"t": 1e300}, ValueError, r"line 3 \(at byte \d+\) is no call"),
    ],
)
def test_a_call_that_is_none_is_refused(tmp_path: Path, change: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        list(recorded_calls(calls(tmp_path, CHECK | change), HealthServant))


def test_a_last_call_that_was_cut_is_left_out(tmp_path: Path) -> None:
    path = calls(tmp_path, CHECK, CHECK)
    path.write_text(path.read_text()[:-9])
    assert len(list(recorded_calls(path, HealthServant))) == 1


def test_a_recording_of_the_other_kind_is_refused(tmp_path: Path) -> None:
    messages, of_calls = written(tmp_path), calls(tmp_path)
    assert (CallRecording.is_one(messages), CallRecording.is_one(of_calls)) == (False, True)
    with pytest.raises(ValueError, match="is no recording of `mf record --calls`"):
        CallRecording(messages)
    with pytest.raises(ValueError, match="is no recording of `mf record`"):
        Recording(of_calls)


@pytest.mark.parametrize(
    ("at", "seconds"), [(1_500_000_001, 0.500000001), (0, -1.0), (-(1 << 62), -1e9), (1 << 62, 1e9)]
)
def test_a_clock_that_was_set_makes_no_time_that_readers_refuse(
    tmp_path: Path, at: int, seconds: float
) -> None:
    assert Recording.between(1_000_000_000, at) == seconds
    path = written(tmp_path, line(Recording.between(1_000_000_000, at), "", 1))
    assert [each.seconds for each in Recording(path)] == [seconds]


def test_a_line_without_end_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = written(tmp_path)
    place = path.stat().st_size
    os.truncate(path, 1 << 36)  # zeros that take no room
    with pytest.raises(ValueError, match=rf"line 2 \(at byte {place}\) is longer than 32 MiB"):
        list(Recording(path))


def test_a_file_of_descriptions_alone_is_refused(tmp_path: Path) -> None:
    described = (CallRecording.described(number, HEALTH) for number in range(1, 1002))
    with pytest.raises(ValueError, match=r"line 1002 \(at byte \d+\) is beyond 1,000 descriptions"):
        list(CallRecording(calls(tmp_path, *described)))


def test_long_lines_do_not_wait_for_a_thousand_others(tmp_path: Path) -> None:
    long = CHECK | {"arguments": {"service": "x" * (1 << 23)}}
    path = calls(tmp_path, *(long | {"t": seconds} for seconds in range(12)))
    found = iter(CallRecording(path))
    assert next(found).seconds == 0
    assert [each.seconds for each in found] == list(range(1, 12))
