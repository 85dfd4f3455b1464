"""F4. `@tier(...)`, as it is asked for: whether the type can have it, planning decides."""

from dataclasses import dataclass

from mfidl import model
from mfidl.diagnostics import did_you_mean
from mfidl.semantics.annotations import Read, bad_arguments, only_argument
from mfidl.semantics.context import Context
from mfidl.source import Span
from mfidl.syntax import ast


@dataclass(frozen=True, slots=True)
class Asked:
    """`tier` is None where none is asked for, or not `sound`ly; `span` is that of its word."""

    tier: model.Tier | None = None
    span: Span | None = None
    sound: bool = True


def asked_tier(context: Context, read: Read) -> Asked:
    annotation = read.get("tier")
    if annotation is None:
        return Asked()
    value = only_argument(context, annotation)
    if isinstance(value, ast.NameExpr) and not value.negative:
        word = value.path.text
        tiers = {tier.value: tier for tier in model.Tier}
        if word in tiers:
            return Asked(tiers[word], value.span)
        context.diagnostics.error("E0702", value.span, help=did_you_mean(word, tiers), name=word)
    elif value is not None and not isinstance(value, ast.BrokenExpr):
        bad_arguments(context, annotation)
    return Asked(sound=False)
