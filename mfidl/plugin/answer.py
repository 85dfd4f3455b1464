"""F6. Checks a generator's answer, which is not trusted.

Its files become `GeneratedFile`s below its own output folder, its diagnostics ours, with the source line.
"""

from collections.abc import Iterable, Sequence

from google.protobuf.message import DecodeError

from mfidl import model
from mfidl.diagnostics import Diagnostics, Note
from mfidl.emit.output import GeneratedFile
from mfidl.plugin import plugin_pb2 as pb
from mfidl.plugin.paths import Paths, bad_path
from mfidl.plugin.process import Failed
from mfidl.source import SourceFile, Span

FORMAT = 1


def read_answer(data: bytes) -> pb.Response:
    """The message in a generator's output."""
    if not data:
        raise Failed("E0903", reason="it is empty")
    try:
        response = pb.Response.FromString(data)
    except DecodeError:
        raise Failed("E0903", reason=f"{len(data)} bytes that are no protobuf message of that kind") from None
    if response.format != FORMAT:
        raise Failed("E0903", reason=f"its `format` is {response.format}, not {FORMAT}")
    return response


def files_of(response: pb.Response, modules: Sequence[str]) -> list[GeneratedFile]:
    """The files, each path safe and given once; `modules` are those that files may stand for."""
    files: list[GeneratedFile] = []
    paths = Paths()
    for each in response.files:
        if each.path in paths:
            raise Failed("E0907", path=each.path)
        problem = bad_path(each.path) or paths.clash(each.path)
        if problem is not None:
            raise Failed("E0906", path=each.path, reason=problem)
        if each.module and each.module not in modules:
            reason = f"`{each.path}` belongs to module `{each.module}`, which was not asked for"
            raise Failed("E0903", reason=reason)
        files.append(GeneratedFile(each.path, each.text, each.module))
    return files


def report(name: str, response: pb.Response, program: model.Program, diagnostics: Diagnostics) -> None:
    """The generator's own messages, as diagnostics of this run."""
    places = _Places(program)
    for each in response.diagnostics:
        code = "W0908" if each.severity == pb.Diagnostic.WARNING else "E0908"
        notes = [Note(note.message, places.span(note)) for note in each.notes]
        diagnostics.error(
            code,
            places.span(each),
            notes=notes,
            help=each.help or None,
            name=name,
            message=each.message or "something is wrong, and it does not say what",
        )


class _Places:
    """Finds the text of modules. A place that is none is no reason to lose the message: it has none, then."""

    def __init__(self, program: model.Program) -> None:
        self._modules = {module.name: module for module in program.modules}

    def span(self, message: pb.Diagnostic | pb.Note) -> Span | None:
        if not message.HasField("place"):
            return None
        place = message.place
        module = self._modules.get(place.module)
        source = None if module is None else _source(module)
        start, end = place.span.start, place.span.end
        if source is None or not start <= end <= len(source.text):
            return None
        return Span(source, start, end)


def _source(module: model.Module) -> SourceFile | None:
    for each in _spanned(module):
        if each is not None:
            return each.file
    return None


def _spanned(module: model.Module) -> Iterable[Span | None]:
    yield from (each.span for each in module.declarations)
    yield from (each.span for each in module.constants)
    yield from (each.span for each in module.services)
    yield from (each.span for each in module.topics)
    yield from (each.span for each in module.agents)
