"""F6. What went wrong in a template, as a diagnostic with the template's own line.

Jinja2 reports the line of an error, but not its column: the caret is under the word that the message
mentions, if the line contains it, otherwise under the whole line.
"""

import re
from collections.abc import Iterable, Mapping

from jinja2 import TemplateNotFound, TemplateSyntaxError
from jinja2.exceptions import TemplateError, TemplatesNotFound

from mfidl.diagnostics import Diagnostics, did_you_mean
from mfidl.plugin.environment import UnknownName
from mfidl.source import SourceFile, Span

_QUOTED = re.compile(r"['`]([^'`]+)['`]")


def report_mistake(
    error: Exception,
    where: str,
    sources: Mapping[str, SourceFile],
    known: Iterable[str],
    diagnostics: Diagnostics,
) -> None:
    """`where` names what was rendered, for a mistake that has no line; `known` are filters and tests."""
    message, word, help_ = _words(error, sources, known)
    span = _span(error, word, sources)
    if span is None:
        message = f"{where}: {message}"
    diagnostics.error("E0909", span, help=help_, message=message)


def _words(
    error: Exception, sources: Mapping[str, SourceFile], known: Iterable[str]
) -> tuple[str, str | None, str | None]:
    """What happened, the word that it is about, and what to do."""
    if isinstance(error, UnknownName):
        return str(error.message), error.name, error.help
    if isinstance(error, TemplateNotFound):
        names = error.templates if isinstance(error, TemplatesNotFound) else [error.name or ""]
        name = str(names[0])
        return f"there is no template `{name}`", name, did_you_mean(name, sources)
    if isinstance(error, RecursionError):
        return "this template includes itself without end", None, None
    text = (error.message or "") if isinstance(error, TemplateError) else ""
    if not text:
        text = f"{type(error).__name__}: {error}"
    quoted = _QUOTED.search(text)
    word = quoted.group(1) if quoted else None
    named = word is not None and ("filter" in text or "test" in text)
    return text.rstrip("."), word, did_you_mean(word, known) if named and word else None


def _span(error: Exception, word: str | None, sources: Mapping[str, SourceFile]) -> Span | None:
    place = _line(error, {each.path: each for each in sources.values()})
    if place is None:
        return None
    source, line = place
    starts = source.line_starts()
    line = max(1, min(line, len(starts)))
    text = source.line_text(line)
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) if word else None
    first, last = (
        (found.start(), found.end()) if found else (len(text) - len(text.lstrip()), len(text.rstrip()))
    )
    start = starts[line - 1]
    return Span(source, start + first, start + max(first, last))


def _line(error: Exception, by_path: Mapping[str, SourceFile]) -> tuple[SourceFile, int] | None:
    if isinstance(error, TemplateSyntaxError):
        source = by_path.get(error.filename or "")
        return None if source is None else (source, error.lineno)
    found = None
    trace = error.__traceback__
    while trace is not None:
        source = by_path.get(trace.tb_frame.f_code.co_filename)
        if source is not None:
            found = (source, trace.tb_lineno)
        trace = trace.tb_next
    return found
