"""Answers to the page's questions: texts in, data for JSON out. It opens no file but the compiler's own.

    schema   {schema, older}            what is wrong, what is generated, pictures, what breaks
    value    {schema, type, json}       the bytes of a value, each with its meaning
             {schema, type, hex}        the value that bytes are
             {schema, type}             an example of the type, as above

`failure` in an answer is the reason, as one text, why the rest is missing.
"""

import json
from typing import Any

from mfidl import __version__, model
from mfidl.breaking.findings import findings
from mfidl.breaking.profile import PROFILES
from mfidl.breaking.report import as_diagnostics
from mfidl.breaking.rollout import rollouts
from mfidl.compiler import Analysis, analyse
from mfidl.diagnostics import Diagnostic, Diagnostics
from mfidl.diagnostics.render import render_json
from mfidl.dynamic import (
    DecodeError,
    EncodeError,
    Schema,
    UnknownTypeError,
    annotate,
    decode,
    encode,
    from_json,
    planned_tier,
    to_json,
    violation,
)
from mfidl.dynamic import pictures as faults
from mfidl.dynamic.annotate_text import lines
from mfidl.dynamic.codec import root_of
from mfidl.emit import cpp, python
from mfidl.emit.generable import Language, for_language
from mfidl.emit.output import EmitOptions, GeneratedFile
from mfidl.explain import explain, render_text
from mfidl.explain.example import Examples
from mfidl.explain.measure import Measure
from mfidl.explain.svg import pictures
from mfidl.explain.values import UnmeasuredError
from mfidl.lint import Settings
from mfidl.lint.run import findings as advice
from mfidl.semantics.loading import Texts

NAME = "schema.mfidl"
_OLDER = "older.mfidl"
_RULES = Settings().changed((), ("L0107",), "the playground")  # its text is in no file with a name
Json = dict[str, Any]


def answer(question: Json) -> Json:
    """`question` has `ask`, and the members above; members of other types are taken as missing."""
    schema = _text(question, "schema") or ""
    if question.get("ask") == "schema":
        return _of_schema(schema, _text(question, "older"))
    if question.get("ask") == "value":
        return _of_value(schema, question)
    return {"failure": "the question is neither about a schema nor about a value"}


def _text(question: Json, name: str) -> str | None:
    found = question.get(name)
    return found if isinstance(found, str) else None


def _analysed(text: str, name: str) -> Analysis:
    return analyse([name], (), Texts({name: text}))


def _program(analysis: Analysis) -> model.Program | None:
    """None where the schema has an error."""
    return None if analysis.diagnostics else analysis.program


# A schema --------------------------------------------------------------------------------------------------


def _of_schema(text: str, older: str | None) -> Json:
    analysis = _analysed(text, NAME)
    program = _program(analysis)
    shown = analysis.diagnostics.sorted()
    if program is None:
        return {"diagnostics": _shown(shown)}
    shown += advice(analysis.modules, program, _RULES)
    told = explain(program)
    later = Diagnostics()
    files = [*_generated(program, "cpp", later), *_generated(program, "python", later)]
    return {
        "diagnostics": _shown([*shown, *later.sorted()]),
        "files": files,
        "pictures": [{"name": each.name, "svg": each.element} for each in pictures(told)],
        "explained": render_text(told),
        "types": _types(program),
        **({} if older is None else _broken(older, program)),
    }


def _generated(program: model.Program, language: Language, diagnostics: Diagnostics) -> list[Json]:
    own = for_language(program, language, diagnostics)
    generate = cpp.generate if language == "cpp" else python.generate
    files: list[GeneratedFile] = generate(own, EmitOptions(compiler_version=__version__))
    return [{"language": language, "path": each.path, "text": each.text} for each in files if each.text]


def _broken(older: str, program: model.Program) -> Json:
    analysis = _analysed(older, _OLDER)
    before = _program(analysis)
    if before is None:
        return {"older": _shown(analysis.diagnostics.sorted())}
    peers = rollouts(before, program)
    found = findings(before, program, peers, PROFILES["default"])
    return {"older": [], "changes": _shown(as_diagnostics(found, lambda span: span))}


def _shown(diagnostics: list[Diagnostic]) -> Any:
    return json.loads(render_json(diagnostics))["diagnostics"]


def _types(program: model.Program) -> list[str]:
    """What a value can be of: structs and unions, then parameters and results, then numbers."""
    module = program.requested[0]
    kinds: tuple[tuple[model.Declaration, ...], ...] = (module.structs, module.unions)
    declared = [each.full_name for kind in kinds for each in kind]
    kinds = (module.enums, module.flags)
    numbers = [each.full_name for kind in kinds for each in kind]
    methods = [method for service in module.services for method in service.methods]
    implicit = [each.full_name for method in methods for each in (method.params, method.results)]
    return [name.removeprefix(f"{module.name}.") for name in (*declared, *implicit, *numbers)]


# A value ---------------------------------------------------------------------------------------------------


def _of_value(text: str, question: Json) -> Json:
    program = _program(_analysed(text, NAME))
    if program is None:
        return {"failure": "the schema has errors"}
    schema, name = Schema(program), _text(question, "type") or ""
    try:
        type_ = root_of(schema, name).type
    except UnknownTypeError as unknown:
        return {"failure": faults.of_type(unknown)}
    given, digits = _text(question, "json"), _text(question, "hex")
    made: Json
    if digits is not None:
        made = _from_digits(digits)
    else:
        made = _from_json(schema, name, _example(schema, type_) if given is None else given)
    if "failure" not in made:
        made |= _annotated(schema, name, bytes.fromhex(made["hex"]))
    return {**made, "tier": planned_tier(schema, type_).value}


def _example(schema: Schema, type_: model.Type) -> str:
    try:
        return Measure(schema.program, Examples(schema.program)).json(type_)
    except UnmeasuredError:
        return ""  # values of codecs of users, and of some constraints: the page says what JSON is missing


def _from_json(schema: Schema, name: str, text: str) -> Json:
    data = text.encode("utf-8", "surrogatepass")
    try:
        value = from_json(schema, name, data)
        written = encode(schema, name, value)
    except DecodeError as error:
        return {"json": text, "failure": faults.of_json(error, data, "JSON")}
    except EncodeError as error:
        return {"json": text, "failure": str(error)}
    broken = violation(schema, name, value)
    if broken is not None:
        return {"json": text, "failure": faults.of_violation(broken, "JSON")}
    return {"json": text, "hex": written.hex()}


def _from_digits(digits: str) -> Json:
    clean = "".join(digits.split())
    try:
        return {"hex": bytes.fromhex(clean).hex()}
    except ValueError:
        return {"hex": "", "failure": "bytes are pairs of the hexadecimal digits 0-9 and a-f"}


def _annotated(schema: Schema, name: str, data: bytes) -> Json:
    found = annotate(schema, name, data)
    made: Json = {"bytes": "".join(f"{each}\n" for each in lines(found))}
    if found.error is not None:
        return {**made, "failure": faults.of_bytes(found.error, data, "bytes")}
    if found.violation is not None:
        return {**made, "failure": faults.of_violation(found.violation, "bytes")}
    value = decode(schema, name, data)
    return {**made, "json": _pretty(to_json(schema, name, value))}


def _pretty(text: str) -> str:
    return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
