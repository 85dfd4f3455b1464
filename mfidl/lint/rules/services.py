"""L05: methods that cause trouble for their callers or operators."""

import re
from collections.abc import Iterator
from itertools import pairwise

from mfidl import model
from mfidl.lint.subject import Finding, Subject
from mfidl.source import Span

MANY = 8
_ASKS = re.compile(r"(get|query|find|lookup|look_up|list|count|search|is|has|exists)(_.*)?")


def getters_not_idempotent(subject: Subject) -> Iterator[Finding]:
    for method, meaning, _ in subject.methods():
        if _ASKS.fullmatch(meaning.name) and not (meaning.idempotent or meaning.oneway):
            yield Finding("L0501", method.name.span, {"name": meaning.name}, "write @idempotent before it")


def methods_without_deadline(subject: Subject) -> Iterator[Finding]:
    for method, meaning, _ in subject.methods():
        if meaning.deadline_ns is None and not meaning.oneway:
            yield Finding("L0502", method.name.span, {"name": meaning.name})


def bools_in_a_row(subject: Subject) -> Iterator[Finding]:
    """Reports one finding for each row, however long it is."""
    for _, meaning, _ in subject.methods():
        told = False
        for first, second in pairwise(meaning.params.fields):
            both = _is_bool(first) and _is_bool(second)
            if both and not told and second.span:
                yield Finding("L0503", second.span, {"first": first.name, "second": second.name})
            told = both


def _is_bool(field: model.Field) -> bool:
    return field.type == model.Primitive(model.Scalar.BOOL)


def lists_of_singles(subject: Subject) -> Iterator[Finding]:
    for _, service in subject.services():
        singles = {
            method.params.fields[0].type: method.name
            for method in service.methods
            if len(method.params.fields) == 1 and method.param_stream is None
        }
        for method in service.methods:
            fields = method.params.fields
            if len(fields) != 1 or not isinstance(fields[0].type, model.ListOf) or method.span is None:
                continue
            single = singles.get(fields[0].type.element)
            if single is not None and _same_word(single, method.name):
                hint = (
                    f"drop it, and write @batch(max = 512) before `{single}` if its default is not enough, "
                    "and @ordered if the order of a list counts"
                )
                yield Finding("L0504", method.span, {"name": method.name, "single": single}, hint)


def _same_word(single: str, several: str) -> bool:
    """Whether two names begin with the same verb, like `add` and `add_all`, or `put_hit` and `put_hits`."""
    return several.startswith(single.split("_")[0])


def agents_as_parameters(subject: Subject) -> Iterator[Finding]:
    for _, meaning, service in subject.methods():
        for field in meaning.params.fields:
            if service.agent is not None and field.name == service.agent.name and field.span:
                yield Finding("L0505", field.span, {"name": field.name}, "remove it")


def unbounded_parameters(subject: Subject) -> Iterator[Finding]:
    for _, meaning, _ in subject.methods():
        for field in meaning.params.fields:
            bounded = any(
                isinstance(each, model.LengthConstraint) and each.high is not None
                for each in field.constraints
            )
            if _is_sized(field.type) and not bounded and field.span:
                yield Finding("L0506", field.span, {"name": field.name})


def _is_sized(type_: model.Type) -> bool:
    inner = type_.element if isinstance(type_, model.OptionalOf) else type_
    texts = (model.Primitive(model.Scalar.STRING), model.Primitive(model.Scalar.BYTES))
    return inner in texts or isinstance(inner, model.ListOf | model.SetOf | model.MapOf)


def many_parameters(subject: Subject) -> Iterator[Finding]:
    for method, meaning, _ in subject.methods():
        count = len(meaning.params.fields)
        if count >= MANY:
            span: Span = method.name.span
            yield Finding("L0507", span, {"name": meaning.name, "count": count})
