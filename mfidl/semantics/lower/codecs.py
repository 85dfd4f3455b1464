"""F4. The user's own code for a struct: codecs of the tier custom, and existing C++ types."""

import re
from dataclasses import dataclass

from mfidl import model
from mfidl.semantics.annotations import KNOWN, Read, bad_arguments
from mfidl.semantics.context import Context
from mfidl.semantics.lower.tiers import Asked
from mfidl.syntax import ast

CODECS = ("cpp.codec", "python.codec")

_HEADER = re.compile(r'[^"\\\n\r<>\0]+|<[^"\\\n\r<>\0]+>')
_CPP_NAME = re.compile(r"(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*(?:<[\w:<>, ]+>)?", re.ASCII)
_PYTHON_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Codecs:
    cpp: model.CppCodec | None = None
    python: model.PythonCodec | None = None


def read_codecs(context: Context, declaration: ast.StructDecl, read: Read, asked: Asked) -> Codecs:
    """The codecs of a struct of the tier custom. One without the other half is reported: a tier without
    codecs, codecs without the tier, a body beside them, no body without them.
    """
    name = declaration.name
    named = [read[each] for each in CODECS if each in read]
    codecs = Codecs(_cpp_codec(context, read), _python_codec(context, read))
    if asked.tier is model.Tier.CUSTOM:
        if not named:
            hint = f"name one: {KNOWN['cpp.codec'].usage} or {KNOWN['python.codec'].usage}"
            context.diagnostics.error("E0704", name.span, help=hint, name=name.text)
        if declaration.has_body:
            context.diagnostics.error("E0705", name.span, help=f"write `struct {name.text};`", name=name.text)
    elif asked.sound:
        for annotation in named[:1]:
            hint = "add @tier(custom)"
            if asked.tier is not None:
                hint = f"write @tier(custom), not @tier({asked.tier.value})"
            if declaration.has_body:
                hint += f", and leave the body out: `struct {name.text};`"
            written = annotation.path.text
            context.diagnostics.error("E0703", annotation.span, help=hint, annotation=written, name=name.text)
        if not declaration.has_body and not named:
            context.diagnostics.error("E0416", name.span, kind=declaration.keyword, name=name.text)
    return codecs


def _cpp_codec(context: Context, read: Read) -> model.CppCodec | None:
    texts = _strings(context, read.get("cpp.codec"), (_HEADER, _CPP_NAME, _CPP_NAME))
    return None if texts is None else model.CppCodec(*texts)


def _python_codec(context: Context, read: Read) -> model.PythonCodec | None:
    texts = _strings(context, read.get("python.codec"), (_PYTHON_NAME,))
    return None if texts is None else model.PythonCodec(*texts[0].split(":"))


def cpp_type(context: Context, read: Read) -> model.CppType | None:
    """The C++ type that replaces a struct."""
    texts = _strings(context, read.get("cpp.type"), (_HEADER, _CPP_NAME))
    return None if texts is None else model.CppType(*texts)


_WORDS = {
    _HEADER: "the path of a header",
    _CPP_NAME: "the qualified name of a C++ type, such as geo::Codec",
    _PYTHON_NAME: "a module and a name in it, such as geo.codec:Codec",
}


def _strings(
    context: Context, annotation: ast.Annotation | None, shapes: tuple[re.Pattern[str], ...]
) -> list[str] | None:
    """The texts in an annotation's parentheses, one a shape; what differs is reported."""
    if annotation is None:
        return None
    values = [each.value for each in annotation.arguments if each.key is None]
    if any(isinstance(each, ast.BrokenExpr) for each in values):
        return None
    strings = [each for each in values if isinstance(each, ast.StringLiteral)]
    if len(strings) != len(shapes) or len(strings) != len(annotation.arguments):
        bad_arguments(context, annotation)
        return None
    made = []
    for shape, string in zip(shapes, strings, strict=True):
        text = string.data.decode("utf-8", "replace")
        if not shape.fullmatch(text):
            context.diagnostics.error("E0618", string.span, text=text, expected=_WORDS[shape])
            return None
        made.append(text)
    return made
