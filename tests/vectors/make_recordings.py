"""Writes recordings/: files as `mf record` leaves them, whole, cut and damaged, of the services and topics of
tests/mf_tools/shop.mfidl, and expected.json, which says what is read of each. The lines are written by hand
here; the descriptions are those of the compiler.

    python -m tests.vectors.make_recordings STUBS

STUBS: the folder of `mfidlc compile tests/mf_tools/shop.mfidl --python STUBS`.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "recordings"
BEGUN = "2026-01-02T03:04:05Z"
SEA = {
    "id": "18446744073709551615",
    "title": "The sea",
    "price": 0.1,
    "size": {"width": 10.0, "height": 1e-7, "kind": "book"},
    "marks": ["sale"],
    "tongue": "en",
    "note": "‘rare’",
}
FIND = {
    "t": 0,
    "of": 0,
    "service": "shop.Shop",
    "method": "find",
    "agent": "maps",
    "arguments": {"word": "sea", "most": 1},
    "code": "OK",
    "took": 0.000012345,
    "result": [SEA],
}
MISSED = {
    "t": -0.5,
    "of": 0,
    "service": "shop.Shop",
    "method": "item",
    "agent": "books",
    "arguments": {"title": "?"},
    "code": "DECLARED",
    "took": 2.5,
    "error": 'shop.NotFound{title: "?", nearest: []}',
}
NOW = {
    "t": 2,
    "of": 1,
    "service": "shop.Clock",
    "method": "now",
    "agent": "",
    "arguments": {},
    "code": "OK",
    "took": 0.25,
    "result": "2023-11-14T22:13:20Z",
}
COUNT = {
    "t": 1.000000001,
    "service": "shop.Shop",
    "method": "count",
    "agent": "maps",
    "code": "OK",
    "took": 0,
    "stream": True,
}
CATALOGUED = {
    "t": 3,
    "of": 2,
    "service": "shop.Catalog",
    "method": "file",
    "agent": "",
    "arguments": {"under": [{"name": "sea", "parts": []}]},
    "code": "OK",
    "took": 0.5,
    "result": {"name": "sea", "parts": []},
}
SOLD = [
    {"t": 0, "agent": "books", "value": {"title": "The sea", "count": 3}},
    {"t": 0.75, "agent": "maps", "value": {"count": 4294967295, "title": "\x00 é"}},
]
KEPT = ("service", "method", "agent", "code", "took", "error", "stream", "arguments", "result")


def main(stubs: str) -> None:
    sys.path.insert(0, stubs)
    shop = importlib.import_module("shop")
    described = [
        {
            "of": number,
            "service": servant.mf_service.name,
            "descriptor": servant.mf_service.descriptor,
            "annex": servant.mf_service.annex,
        }
        for number, servant in enumerate((shop.ShopServant, shop.ClockServant, shop.CatalogServant))
    ]
    topic = shop.SalesPublisher.mf_topic
    calls: list[Any] = [{"mf_calls": 1, "begun": BEGUN}, *described[:2]]
    messages: list[Any] = [
        {
            "mf_recording": 1,
            "topic": topic.name,
            "descriptor": topic.descriptor,
            "annex": topic.annex,
            "begun": BEGUN,
        }
    ]
    made = _Made()
    made.calls("calls.rec", calls, [FIND, NOW, COUNT, MISSED], order=(3, 0, 2, 1))
    made.calls("of_others.rec", calls, [FIND | {"service": "shop.Other", "method": "x"}, NOW], order=(1,))
    made.messages("messages.rec", messages, SOLD)
    made.deep([*calls, described[2]])
    made.cut()
    made.refused(calls, messages)
    made.end()


class _Made:
    def __init__(self) -> None:
        self._expected: list[dict[str, Any]] = []

    def calls(self, name: str, head: list[Any], lines: list[Any], order: tuple[int, ...]) -> None:
        _write(name, head + lines)
        read = [
            {"line": len(head) + at + 1, "seconds": lines[at]["t"]}
            | {key: lines[at][key] for key in KEPT if key in lines[at]}
            for at in order
        ]
        self._expected.append({"file": name, "of": "calls", "read": read})

    def messages(self, name: str, head: list[Any], lines: list[Any]) -> None:
        _write(name, head + lines)
        self._expected.append({"file": name, "of": "messages", "read": lines})

    def deep(self, calls: list[Any]) -> None:
        """Arguments and a result of 64 levels are read, and deeper ones are refused."""
        most = CATALOGUED | {"arguments": {"under": [_subject(31)]}, "result": _subject(32)}
        self.calls("deep_values.rec", calls, [most, NOW], order=(1, 0))
        for name, key, value, place in (
            ("deep_argument.rec", "arguments", {"under": [_subject(32)]}, "file.under[0]" + ".parts[0]" * 31),
            ("deep_result.rec", "result", _subject(33), "Subject" + ".parts[0]" * 32),
        ):
            byte = json.dumps(value, separators=(",", ":")).rindex("{")
            text = f"'{{path}}': line 6: {place}, at byte {byte}: objects and arrays are nested too deep"
            self._refused(name, "calls", [*calls, NOW, CATALOGUED | {key: value}], 6, text)

    def cut(self) -> None:
        """A last line that was cut is left out."""
        for kind, cut in (("calls", 11), ("messages", 2)):
            whole = next(each for each in self._expected if each["file"] == f"{kind}.rec")
            name = f"cut_{kind}.rec"
            (FOLDER / name).write_bytes((FOLDER / f"{kind}.rec").read_bytes()[:-cut])
            last = whole["read"][0] if kind == "calls" else whole["read"][-1]
            read = [each for each in whole["read"] if each is not last]
            self._expected.append({"file": name, "of": kind, "read": read})

    def refused(self, calls: list[Any], messages: list[Any]) -> None:
        """Each with the words; `{path}` is that of the file, and `{line}` its line and byte."""
        at = "'{path}': line {line}"
        for name, changed in (
            ("no_code", FIND | {"code": "NONE"}),
            ("no_time", FIND | {"t": "soon"}),
            ("late", FIND | {"t": 1e300}),
            ("unknown_description", FIND | {"of": 7}),
            ("no_agent", {key: each for key, each in FIND.items() if key != "agent"}),
            ("number_for_text", FIND | {"agent": 7}),
            ("number_for_bool", FIND | {"stream": 1}),
        ):
            self._refused(f"{name}.rec", "calls", [*calls, changed, NOW], 4, f"{at} is no call")
        self._refused("damaged.rec", "calls", [*calls, FIND, b'{"t": 1, "of"}', NOW], 5, f"{at} is no call")
        broken = json.dumps(NOW).replace('"2023', "2023").encode()
        self._refused("damaged_value.rec", "calls", [*calls, broken, NOW], 4, f"{at} is no call")
        self._refused("no_utf8.rec", "calls", [*calls, b'{"t": "\xff"}', NOW], 4, f"{at} is no call")
        deep = b'{"t": 0, "agent": "", "value": ' + b"[" * 3000 + b"]" * 3000 + b"}"
        self._refused("deep.rec", "messages", [*messages, deep, SOLD[0]], 2, f"{at} is no message")
        self._refused(
            "no_value.rec", "messages", [*messages, {"t": 0, "agent": ""}], 2, f"{at} is no message"
        )
        unknown = FIND | {"method": "search"}
        self._refused(
            "no_method.rec", "calls", [*calls, unknown], 4, "'{path}': line 4: shop.Shop has no method search"
        )
        for name, method, shown in (
            ("long_method.rec", "é" * 101, '"' + "é" * 100 + '…"'),
            ("odd_method.rec", 'a\n"\\\x00\x9b\u202e=', '"a\\n\\"\\\\\\x00\\xc2\\x9b\\xe2\\x80\\xae="'),
        ):
            text = f"'{{path}}': line 4: shop.Shop has no method {shown}"
            self._refused(name, "calls", [*calls, FIND | {"method": method}], 4, text)
        other = FIND | {"arguments": {"word": 7}}
        text = "'{path}': line 4: find.word, at byte 8: expected a string, found a number"
        self._refused("other_argument.rec", "calls", [*calls, other], 4, text)
        gone = FIND | {"arguments": {"words": "sea"}}
        text = "'{path}': line 4: find, at byte 1: `words` is not a field; did you mean `word`?"
        self._refused("other_field.rec", "calls", [*calls, gone], 4, text)
        other = FIND | {"result": [SEA, SEA | {"tongue": "fr"}]}
        text = "'{path}': line 4: [1].tongue, at byte 299: `fr` is not a member"
        self._refused("other_result.rec", "calls", [*calls, other], 4, text)
        found = MISSED | {"code": "OK", "result": SEA | {"size": {"width": 1, "kind": "book"}}}
        text = "'{path}': line 4: Item.size.height, at byte 90: a field is missing that has no default"
        self._refused("other_struct.rec", "calls", [*calls, found], 4, text)
        ordered = FIND | {"method": "order", "result": {"number": "1", "sum": "much"}}
        del ordered["arguments"]
        text = "'{path}': line 4: results.sum, at byte 20: a string holds no number"
        self._refused("other_results.rec", "calls", [*calls, ordered], 4, text)
        other = {"t": 0, "agent": "", "value": {"title": "The sea"}}
        text = "'{path}': line 2: Sold.count, at byte 18: a field is missing that has no default"
        self._refused("other_message.rec", "messages", [*messages, other], 2, text)
        calls_words = "'{path}' is no recording of `mf record --calls`"
        words = "'{path}' is no recording of `mf record`"
        version = "'{path}' is a recording of version 2, and this reads version 1"
        self._refused("empty.rec", "calls", [], 0, calls_words)
        self._refused("empty_of_messages.rec", "messages", [], 0, words)
        self._refused("no_head.rec", "calls", [FIND], 0, calls_words)
        self._refused("of_messages.rec", "calls", messages, 0, calls_words)
        self._refused("of_calls.rec", "messages", calls, 0, words)
        self._refused("no_topic.rec", "messages", [{"mf_recording": 1}], 0, words)
        self._refused("later.rec", "calls", [{"mf_calls": 2, "begun": BEGUN}], 0, version)
        self._refused("later_messages.rec", "messages", [{"mf_recording": 2}], 0, version)

    def _refused(self, name: str, of: str, lines: list[Any], line: int, words: str) -> None:
        """`line`: the number of the wrong one."""
        begins = sum(len(_line(each)) for each in lines[: line - 1])
        words = words.replace("{line}", f"{line} (at byte {begins})")
        _write(name, lines)
        self._expected.append({"file": name, "of": of, "error": words})

    def end(self) -> None:
        text = json.dumps(self._expected, indent=1, ensure_ascii=False)
        (FOLDER / "expected.json").write_text(text + "\n", encoding="utf-8")


def _subject(most: int) -> dict[str, Any]:
    """One inside of the other, with two levels for each."""
    made: dict[str, Any] = {"name": "sea", "parts": []}
    for _ in range(most - 1):
        made = {"name": "sea", "parts": [made]}
    return made


def _line(given: Any) -> bytes:
    if isinstance(given, bytes):
        return given + b"\n"
    return json.dumps(given, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _write(name: str, lines: list[Any]) -> None:
    (FOLDER / name).write_bytes(b"".join(map(_line, lines)))


if __name__ == "__main__":
    main(*sys.argv[1:])
