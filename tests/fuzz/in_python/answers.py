"""What a generator of others answers: any bytes are refused with a code of the catalogue, or are files below
its folder and messages with places that are there.
"""

from functools import cache
from pathlib import PurePosixPath

from mfidl import model
from mfidl.compiler import check
from mfidl.diagnostics import Diagnostics
from mfidl.diagnostics.render import render_text
from mfidl.plugin import plugin_pb2 as pb
from mfidl.plugin.answer import files_of, read_answer, report
from mfidl.plugin.process import Failed
from tests.fuzz.in_python.harness import Target
from tests.fuzz.in_python.imported import temporary

_SCHEMA = "module a.b;\nstruct A { x: u32; }\nservice S { go(); }\n"
_PATHS = (
    b"..",
    b"/",
    b"a/",
    b"\\",
    b"A",
    b"\0",
    b"con",
    b".mfidl-manifest.json",
    b"a.b",
    b"\xff",
    b"x" * 300,
)


@cache
def _program() -> model.Program:
    path = temporary() / "a.mfidl"
    path.write_text(_SCHEMA)
    program = check([str(path)]).program
    assert program is not None
    return program


def seeds() -> list[bytes]:
    place = pb.Place(module="a.b")
    place.span.end = 6
    files = pb.Response(format=1)
    files.files.add(path="a/b.txt", text="text", module="a.b")
    files.files.add(path="shared.txt", text="more")
    messages = pb.Response(format=1)
    for severity in (pb.Diagnostic.ERROR, pb.Diagnostic.WARNING):
        one = messages.diagnostics.add(severity=severity, message="It is wrong.", place=place, help="Do so.")
        one.notes.add(message="Here.", place=place)
    return [each.SerializeToString() for each in (pb.Response(format=1), files, messages)]


def refusal(data: bytes) -> str:
    try:
        response = read_answer(data)
        files = files_of(response, ["a.b"])
    except Failed as failed:
        diagnostics = Diagnostics()
        diagnostics.error(failed.code, None, **{"name": "demo", **failed.values})
        return _rendered(diagnostics)
    for each in files:
        path = PurePosixPath(each.path)
        assert not path.is_absolute()
        assert ".." not in path.parts
    diagnostics = Diagnostics()
    report("demo", response, _program(), diagnostics)
    _rendered(diagnostics)
    return ""


def _rendered(diagnostics: Diagnostics) -> str:
    for each in diagnostics.sorted():
        assert each.span is None or 0 <= each.span.start <= each.span.end <= len(each.span.file.text)
    return render_text(diagnostics.sorted(), color=False)


TARGET = Target("answers", seeds, refusal, _PATHS)
