"""R9. What `mf record` has written, for tests: so a report of a fault becomes one."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

from mf.codec.decode_error import DecodeError
from mf.codec.json import from_json
from mf.core.description import Description
from mf.core.error import shortened
from mf.core.service import BaseServant, ServiceInfo
from mf.described.recordings import CallRecording, RecordedCall, RecordedMessage, Recording
from mf.described.service import Service

_PLAIN = re.compile(r"[!#-<>-\[\]-~]+")
_HARMFUL = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]')
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def recorded(path: str | PathLike[str], kind: Any) -> Iterator[RecordedMessage]:
    """The messages of a recording, in order, with values of this type: that of the topic as the test's
    generated code has it. Raises OSError, ValueError for what is no recording, DecodeError, with path and
    line, for a value that is none of the type."""
    for line, (seconds, agent, value) in Recording(path).numbered():
        with _at(path, line):
            made = RecordedMessage(seconds, agent, from_json(kind, value))
        yield made


def _shown(name: str) -> str:
    """A name that the file gives, for the text of an error: shortened and escaped, in the same form as in
    C++."""
    text = shortened(name)
    return text if _PLAIN.fullmatch(text) else f'"{_HARMFUL.sub(_escaped, text)}"'


def _escaped(found: re.Match[str]) -> str:
    character = found.group()
    return _ESCAPES.get(character) or "".join(f"\\x{byte:02x}" for byte in character.encode())


@contextmanager
def _at(path: str | PathLike[str], line: int) -> Iterator[None]:
    """Puts the place in the file in front of the words of a DecodeError."""
    try:
        yield
    except DecodeError as wrong:
        text = f"'{path}': line {line}: {wrong.message}"
        raise DecodeError(
            wrong.fault, text, offset=wrong.offset, path=wrong.path, execution=wrong.execution
        ) from None


def recorded_calls(path: str | PathLike[str], *servants: type[BaseServant]) -> Iterator[RecordedCall]:
    """The calls of a recording of `mf record --calls`, in the order in which they began: those of the
    services of these generated servant classes, with arguments and results of the classes of the test's
    generated code, which may be another version than the recorded one. Where arguments are recorded,
    `getattr(client, call.method)(**call.arguments)` makes the call again.

    Raises OSError, ValueError for what is no recording of calls and for a method that the service does not
    have, DecodeError, with path and line, for a value that is none of the schema (docs/json.md).
    """
    known = {each.mf_service.name: _Typed(each.mf_service) for each in servants}
    for call in CallRecording(path):
        typed = known.get(call.service)
        if typed is not None:
            if call.method not in typed.methods:
                text = f"'{path}': line {call.line}: {call.service} has no method {_shown(call.method)}"
                raise ValueError(text)
            with _at(path, call.line):
                made = typed.call(call)
            yield made


class _Typed:
    """Reads values by the descriptor of generated code, and gives them to its codecs as bytes: these make
    objects of its classes."""

    def __init__(self, info: ServiceInfo) -> None:
        self._service = Service(Description(info.name, info.descriptor, info.annex))
        self.methods = {each.name: each for each in info.methods}

    def call(self, call: RecordedCall) -> RecordedCall:
        generated, read = self.methods[call.method], self._service.methods[call.method]
        arguments = result = None
        if call.arguments is not None:
            data = bytes(read.info.encode_request(*read.arguments(call.arguments)))
            names = getattr(generated.request, "__match_args__", [each.name for each in read.params.fields])
            arguments = dict(zip(names, generated.decode_request(data), strict=True))
        if call.result is not None:
            result = generated.decode_result(bytes(read.info.encode_result(read.result(call.result))))
        return call._replace(method=generated.attribute, arguments=arguments, result=result)
