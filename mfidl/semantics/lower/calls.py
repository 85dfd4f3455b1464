"""F4. The annotations of methods: how a call is made, and which of them exclude each other."""

from collections.abc import Iterator
from functools import partial
from itertools import combinations

from mfidl import model
from mfidl.diagnostics import Note, did_you_mean
from mfidl.semantics.annotations import KNOWN, Read, bad_arguments, only_argument
from mfidl.semantics.context import Context
from mfidl.semantics.lower.streams import is_stream
from mfidl.semantics.symbols import Scope
from mfidl.source import Span
from mfidl.syntax import ast

BATCH_LIMIT = 1 << 20
ENTRIES_LIMIT = (1 << 32) - 1
CACHE_BYTES_LIMIT = 1 << 40

# One message to several servers that agree on a version for it: which one gives it, and which acknowledge.
PATTERNS = (
    "no_versioning",  # to all at once, each acknowledges; nothing is agreed on
    "version_request",  # a version is asked of one server, then the message goes to all with it
    "message_returns_version",  # to one server, which answers the version; then to the others with it
    "one_hop",  # to one server, which passes it on, and acknowledges when the others have
    "one_hop_ack_client",  # to one server, which passes it on; all acknowledge to the client
    "wait_for_version",  # to all at once; one of them gives the version to the others, which wait for it
    "chain",  # to one server, from which it goes from one to the next; the last acknowledges to the client
)

_DURATION = model.Primitive(model.Scalar.DURATION)
_BOOL = model.Primitive(model.Scalar.BOOL)
# Of each pair a method may have one.
_EXCLUSIVE = frozenset(
    frozenset(pair)
    for pair in (
        ("@oneway", "a stream"),
        ("@batch", "a stream"),
        ("@ordered", "a stream"),
        ("@cached", "a stream"),
        ("@replicated", "a stream"),
        ("@cached", "@replicated"),
    )
)


def check_oneway(context: Context, method: ast.MethodDecl, read: Read) -> None:
    """Reports what a oneway method must not have, because it has no reply."""
    notes = [Note("declared oneway here", read["oneway"].span)]
    if method.arrow is not None:
        results = method.results
        span = results.span if isinstance(results, ast.TypeExpr) else method.arrow
        context.diagnostics.error("E0610", span, notes=notes)
    if method.throws:
        context.diagnostics.error("E0611", method.throws[0].span, notes=notes)
    for name in ("deadline", "cached", "replicated"):
        if name in read:
            context.diagnostics.error("E0614", read[name].span, notes=notes, name=name)


def check_exclusive(context: Context, method: ast.MethodDecl, read: Read) -> None:
    """One message for each pair that excludes each other."""
    kinds = [(f"@{name}", annotation.path.span) for name, annotation in read.items()]
    stream = next(_streams(method, "oneway" in read), None)
    if stream is not None:
        kinds.append(("a stream", stream))
    for (first, first_span), (second, second_span) in combinations(kinds, 2):
        if frozenset((first, second)) in _EXCLUSIVE:
            if second == "a stream":
                first, first_span, second, second_span = second, second_span, first, first_span
            one, other = (f"`{each}`" if each[0] == "@" else each for each in (second, first))
            notes = [Note(f"{other} is here", first_span)]
            context.diagnostics.error("E0616", second_span, notes=notes, one=one, other=other)


def _streams(method: ast.MethodDecl, oneway: bool) -> Iterator[Span]:
    """A oneway method's result is reported elsewhere."""
    for param in method.params:
        if is_stream(param.type):
            yield param.type.path.span
    if not oneway and isinstance(method.results, ast.TypeExpr) and is_stream(method.results):
        yield method.results.path.span


def deadline(context: Context, read: Read, scope: Scope) -> int | None:
    """Nanoseconds."""
    annotation = read.get("deadline")
    value = None if annotation is None else only_argument(context, annotation)
    if annotation is None or value is None:
        return None
    return _duration(context, annotation, value, scope, "E0608")


def _duration(
    context: Context, annotation: ast.Annotation, value: ast.Expr | ast.RangeExpr, scope: Scope, code: str
) -> int | None:
    if isinstance(value, ast.RangeExpr):
        bad_arguments(context, annotation)
        return None
    duration = context.values.value(value, _DURATION, scope)
    if not isinstance(duration, int):
        return None
    if duration <= 0:
        context.diagnostics.error(code, value.span)
        return None
    return duration


def batch_max(context: Context, read: Read, scope: Scope) -> int | None:
    annotation = read.get("batch")
    value = None if annotation is None else only_argument(context, annotation, key="max")
    if annotation is None or value is None or isinstance(value, ast.BrokenExpr):
        return None
    if isinstance(value, ast.RangeExpr):
        bad_arguments(context, annotation)
        return None
    count = context.values.whole_number(value, scope, "the size of a batch")
    if count is None:
        return None
    if not 1 <= count <= BATCH_LIMIT:
        context.diagnostics.error("E0609", value.span, limit=BATCH_LIMIT)
        return None
    return count


def cache(context: Context, method: ast.MethodDecl, read: Read, scope: Scope) -> model.Cache | None:
    annotation = read.get("cached")
    if annotation is None:
        return None
    given = _by_key(context, annotation, ("entries", "ttl", "max_bytes", "errors"))
    if given is None:
        return None
    if "entries" not in given:
        bad_arguments(context, annotation)
        return None
    if method.results is None and "oneway" not in read:
        context.diagnostics.error("E0620", annotation.path.span, name=method.name.text)
    count = partial(_count, context, annotation, scope)
    entries = count(given["entries"], "E0621", ENTRIES_LIMIT)
    ttl, errors = None, False
    max_bytes: int | None = model.DEFAULT_CACHE_BYTES
    if "ttl" in given:
        ttl = _duration(context, annotation, given["ttl"], scope, "E0622")
        if ttl is None:
            return None
    if "max_bytes" in given:
        max_bytes = count(given["max_bytes"], "E0627", CACHE_BYTES_LIMIT)
    if "errors" in given:
        errors = _keeps_errors(context, method, annotation, given["errors"], scope)
    return None if entries is None or max_bytes is None else model.Cache(entries, ttl, max_bytes, errors)


def _count(
    context: Context,
    annotation: ast.Annotation,
    scope: Scope,
    value: ast.Expr | ast.RangeExpr,
    code: str,
    limit: int,
) -> int | None:
    """Entries or bytes of a cache."""
    if isinstance(value, ast.RangeExpr):
        bad_arguments(context, annotation)
        return None
    count = context.values.whole_number(value, scope, "the size of a cache")
    if count is not None and not 1 <= count <= limit:
        context.diagnostics.error(code, value.span, limit=limit)
        return None
    return count


def _keeps_errors(
    context: Context,
    method: ast.MethodDecl,
    annotation: ast.Annotation,
    value: ast.Expr | ast.RangeExpr,
    scope: Scope,
) -> bool:
    if isinstance(value, ast.RangeExpr):
        bad_arguments(context, annotation)
        return False
    keeps = context.values.value(value, _BOOL, scope) is True
    if keeps and not method.throws:
        context.diagnostics.error("E0628", value.span, name=method.name.text)
    return keeps


def replicated(context: Context, read: Read) -> str | None:
    """The name of the pattern."""
    annotation = read.get("replicated")
    given = None if annotation is None else _by_key(context, annotation, ("pattern",))
    if annotation is None or given is None:
        return None
    value = given.get("pattern")
    if isinstance(value, ast.BrokenExpr):
        return None
    if not isinstance(value, ast.NameExpr) or value.negative:
        bad_arguments(context, annotation)
        return None
    name = value.path.text
    if name in PATTERNS:
        return name
    hint = did_you_mean(name, PATTERNS) or f"the patterns are {', '.join(PATTERNS)}"
    context.diagnostics.error("E0623", value.span, help=hint, name=name)
    return None


def _by_key(
    context: Context, annotation: ast.Annotation, keys: tuple[str, ...]
) -> dict[str, ast.Expr | ast.RangeExpr] | None:
    """The arguments by name; None if one has no name, an unknown one, or one that was given already."""
    given: dict[str, ast.Expr | ast.RangeExpr] = {}
    for argument in annotation.arguments:
        key = argument.key
        if not isinstance(key, ast.NameExpr) or key.negative:
            if not isinstance(argument.value, ast.BrokenExpr):
                bad_arguments(context, annotation)
            return None
        name = key.path.text
        if name not in keys:
            known = f"@{annotation.path.text} is written {KNOWN[annotation.path.text].usage}"
            hint = did_you_mean(name, keys) or known
            context.diagnostics.error("E0624", key.span, help=hint, name=name, of=annotation.path.text)
            return None
        if name in given:
            notes = [Note("first here", given[name].span)]
            context.diagnostics.error("E0506", key.span, notes=notes, what=f"`{name}`")
            return None
        given[name] = argument.value
    return given
