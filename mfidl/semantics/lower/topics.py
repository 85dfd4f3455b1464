"""F4. The annotations of topics: messages kept for late subscribers, and policies for full queues."""

from mfidl import model
from mfidl.diagnostics import Note, did_you_mean
from mfidl.semantics.annotations import Read, bad_arguments, only_argument
from mfidl.semantics.context import Context
from mfidl.semantics.symbols import Scope
from mfidl.syntax import ast


def replay(context: Context, read: Read, scope: Scope) -> int:
    """Messages of each agent; 0 without the annotation."""
    annotation = read.get("replay")
    value = None if annotation is None else only_argument(context, annotation)
    if annotation is None or value is None or isinstance(value, ast.BrokenExpr):
        return 0
    if isinstance(value, ast.RangeExpr):
        bad_arguments(context, annotation)
        return 0
    count = context.values.whole_number(value, scope, "the number of messages that are kept")
    if count is None:
        return 0
    if not 1 <= count <= model.MOST_REPLAYED:
        context.diagnostics.error("E0629", value.span, limit=model.MOST_REPLAYED)
        return 0
    return count


def overflow(context: Context, read: Read) -> tuple[str, ...]:
    """The policies that are allowed, in the order of the schema; all without the annotation."""
    annotation = read.get("overflow")
    if annotation is None:
        return model.OVERFLOWS
    given: dict[str, ast.Expr] = {}
    for argument in annotation.arguments:
        value = argument.value
        if isinstance(value, ast.BrokenExpr):
            continue
        if argument.key is not None or not isinstance(value, ast.NameExpr) or value.negative:
            bad_arguments(context, annotation)
            return model.OVERFLOWS
        name = value.path.text
        if name not in model.OVERFLOWS:
            hint = did_you_mean(name, model.OVERFLOWS) or f"the policies are {', '.join(model.OVERFLOWS)}"
            context.diagnostics.error("E0630", value.span, help=hint, name=name)
        elif name in given:
            notes = [Note("first here", given[name].span)]
            context.diagnostics.error("E0506", value.span, notes=notes, what=f"`{name}`")
        else:
            given[name] = value
    if not annotation.arguments:
        bad_arguments(context, annotation)
    return tuple(given) or model.OVERFLOWS
