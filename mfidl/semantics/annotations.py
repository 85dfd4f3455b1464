"""F4. The table of known annotations: where each may stand, and how it is written."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from mfidl import model
from mfidl.diagnostics import Note
from mfidl.diagnostics.suggest import nearest
from mfidl.semantics.context import Context
from mfidl.semantics.symbols import Kind, Symbol
from mfidl.syntax import ast


class Place(Enum):
    """Where an annotation may stand; the value is how messages say it."""

    MODULE = "a module"
    IMPORT = "an import"
    CONST = "a constant"
    ALIAS = "an alias"
    AGENT = "an agent"
    ENUM = "an enum"
    MEMBER = "a member"
    STRUCT = "a struct"
    ERROR = "an error"
    FLAGS = "flags"
    UNION = "a union"
    FIELD = "a field"
    ALTERNATIVE = "an alternative"
    PARAM = "a parameter"
    STREAM = "a stream"
    RESULT = "a result"
    SERVICE = "a service"
    METHOD = "a method"
    TOPIC = "a topic"
    TYPE = "a type"
    ANNOTATION = "an annotation"


@dataclass(frozen=True, slots=True)
class Known:
    """One row of the table. `meaning` is what docs/language.md says of it."""

    name: str
    usage: str
    places: frozenset[Place]
    meaning: str


_P = Place
_MEMBERS = frozenset((_P.FIELD, _P.ALTERNATIVE, _P.PARAM, _P.RESULT))
_VALUES = _MEMBERS | {_P.TYPE}
_STRUCT = frozenset((_P.STRUCT,))
_TYPES = frozenset((_P.STRUCT, _P.ERROR, _P.UNION, _P.ENUM, _P.FLAGS, _P.ALIAS))
_NAMED = _TYPES | _MEMBERS | {_P.SERVICE, _P.METHOD, _P.MEMBER, _P.CONST, _P.AGENT, _P.TOPIC}

KNOWN = {
    known.name: known
    for known in (
        Known(
            "tier",
            "@tier(memcpy), @tier(febird), @tier(archive) or @tier(custom)",
            frozenset((_P.STRUCT, _P.UNION)),
            "how it is serialized",
        ),
        Known(
            "range",
            "@range(low..high), either side may be left out",
            _VALUES,
            "bounds included, either may be left out",
        ),
        Known(
            "length",
            "@length(low..high) or @length(exactly), in whole numbers",
            _VALUES,
            "bytes of a `string` or `bytes`, elements of a `list`, `set` or `map`",
        ),
        Known("finite", "@finite", _VALUES, "neither infinite nor nan"),
        Known(
            "pattern", '@pattern("regular expression")', _VALUES, "the whole value matches; the RE2 subset"
        ),
        Known("oneway", "@oneway", frozenset((_P.METHOD,)), "no reply is awaited"),
        Known(
            "idempotent",
            "@idempotent",
            frozenset((_P.METHOD,)),
            "running it twice does no harm, so it may be retried",
        ),
        Known(
            "ordered", "@ordered", frozenset((_P.METHOD,)), "the calls of one batch run one after the other"
        ),
        Known(
            "deadline",
            "@deadline(200ms)",
            frozenset((_P.METHOD,)),
            "how long a call may take when its caller says nothing; otherwise 30 s",
        ),
        Known(
            "batch", "@batch(max = 512)", frozenset((_P.METHOD,)), "the most calls in one message of a batch"
        ),
        Known(
            "deprecated",
            '@deprecated or @deprecated("what to use instead")',
            _NAMED,
            "still there, to be avoided; reaches the generated code",
        ),
        Known(
            "was",
            '@was("old_name")',
            _MEMBERS | {_P.METHOD},
            "earlier names, under which peers and stored data may still know it",
        ),
        Known("required", "@required", frozenset((_P.FIELD,)), "whoever makes a value must give it"),
        Known(
            "cached",
            "@cached(entries = 1000, ttl = 1h)",
            frozenset((_P.METHOD,)),
            "the client keeps results, by all parameters",
        ),
        Known(
            "replicated",
            "@replicated(pattern = one_hop)",
            frozenset((_P.METHOD,)),
            "one message to several servers",
        ),
        Known(
            "replay",
            "@replay(10)",
            frozenset((_P.TOPIC,)),
            "so many of the last messages of each agent are kept for who comes later",
        ),
        Known(
            "overflow",
            "@overflow(drop_oldest, block)",
            frozenset((_P.TOPIC,)),
            "what subscribers may let become of messages for which their queue has no room",
        ),
        Known(
            "cpp.type",
            '@cpp.type("header.hpp", "name::Type")',
            _STRUCT,
            "an existing C++ type stands for a memcpy struct; its layout is proved",
        ),
        Known(
            "cpp.codec",
            '@cpp.codec("header.hpp", "name::Type", "name::Codec")',
            _STRUCT,
            "the C++ codec of a custom struct",
        ),
        Known(
            "cpp.view",
            "@cpp.view",
            frozenset((_P.ALIAS,)),
            "in C++ the list stays in the message in which it came",
        ),
        Known("cpp.name", '@cpp.name("name")', _NAMED, "its name in C++, as it stands"),
        Known(
            "python.codec", '@python.codec("module:Codec")', _STRUCT, "the Python codec of a custom struct"
        ),
        Known("python.name", '@python.name("name")', _NAMED, "its name in Python, as it stands"),
    )
}

_OF_CALLS = frozenset((_P.METHOD, _P.PARAM, _P.RESULT))
_ONE_TIER = (
    "a call is one message of one tier: declare a struct with the tier, and make it the parameter or result"
)

# Annotations of other languages, by the last of their words in small letters, and what is written here.
_FOREIGN = {
    "optional": "an optional field has a `?` behind its type: `name: string?`",
    "nullable": "an optional field has a `?` behind its type: `name: string?`",
    "nonnull": "a field without `?` is always there; `@required` has it given",
    "notnull": "a field without `?` is always there; `@required` has it given",
    "default": "a default stands behind the type: `limit: u32 = 10`",
    "min": "write `@range(low..)`",
    "max": "write `@range(..high)`",
    "minimum": "write `@range(low..)`",
    "maximum": "write `@range(..high)`",
    "size": "write `@length(low..high)`",
    "min_len": "write `@length(low..)`",
    "max_len": "write `@length(..high)`",
    "regex": 'write `@pattern("...")`',
    "timeout": "write `@deadline(200ms)`",
    "renamed": 'earlier names are given by `@was("old_name")`',
    "json_name": "fields have the names of the schema in JSON",
    "packed": "numbers in lists are packed anyway",
    "http": "nothing here says how calls are seen over HTTP",
    "override": "nothing overrides anything here",
}


def _other_language(name: str) -> str | None:
    """Of an annotation with dots: there are only those of languages."""
    first, dot, _ = name.partition(".")
    if not dot or first in ("cpp", "python"):
        return None
    return "annotations with a dot are those of a language, `@cpp.name`, or of an imported module"


_OWN = frozenset((Kind.ANNOTATION,))
_NOT_OWN = frozenset((_P.IMPORT, _P.STREAM, _P.TYPE))


class Read(dict[str, ast.Annotation]):
    """The sound annotations of one place by name; `own` are those that a schema declares, by full name."""

    def __init__(self) -> None:
        super().__init__()
        self.own: dict[str, ast.Annotation] = {}


def read_annotations(context: Context, written: Iterable[ast.Annotation], place: Place) -> Read:
    """The sound annotations of one place; unknown, misplaced and repeated ones are reported."""
    read = Read()
    for annotation in written:
        name = annotation.path.text
        known = KNOWN.get(name)
        if known is None:
            symbol = _declared(context, annotation)
            if symbol is not None:
                _read_own(context, annotation, symbol, place, read)
        elif name in read:
            _given_twice(context, annotation, read[name])
        elif place not in known.places:
            allowed = _join(each.value for each in Place if each in known.places)
            _misplaced(context, annotation, place, allowed)
        else:
            read[name] = annotation
    return read


def own_annotations(context: Context, read: Read) -> model.Annotations:
    """The values of the annotations that a schema declares; wrong ones are reported."""
    made = []
    for full_name, annotation in read.own.items():
        entries = _entries(context, annotation, context.symbol(full_name))
        if entries is not None:
            scope = context.scope_of(annotation.path.span.file)
            type_ = model.Named(full_name, model.DeclKind.STRUCT)
            value = context.values.value(ast.BraceExpr(entries, annotation.span), type_, scope)
            if isinstance(value, model.StructValue):
                made.append(value)
    return tuple(made)


def _declared(context: Context, annotation: ast.Annotation) -> Symbol | None:
    """The annotation of a schema that is meant; reports it if there is none."""
    path, name = annotation.path, annotation.path.text
    found = context.look_up(path, context.scope_of(path.span.file), _OWN)
    if found is None or (isinstance(found, Symbol) and found.kind is Kind.ANNOTATION):
        return found
    last = name.rpartition(".")[2].lower()
    near, hint, notes = nearest(name, KNOWN), _FOREIGN.get(last), None
    if near:
        hint = f"did you mean `@{near}`?"
    elif isinstance(found, Symbol):
        hint = (
            f"`{found.name}` is {found.kind.value}; annotations are declared as `annotation Name {{ ... }}`"
        )
        notes = found.notes()
    elif hint is None and found.code is None and found.help is not None:
        hint = found.help.replace("`", "`@", 1)
    elif hint is None:
        hint = _other_language(name) or f"one of your own is declared as `annotation {name} {{ ... }}`"
        hint = found.help or hint if found.code == "E0307" else hint
    context.diagnostics.error("E0601", path.span, notes=notes or [], help=hint, name=name)
    return None


def _read_own(context: Context, annotation: ast.Annotation, symbol: Symbol, place: Place, read: Read) -> None:
    if symbol.full_name in read.own:
        _given_twice(context, annotation, read.own[symbol.full_name])
    elif place in _NOT_OWN:
        _misplaced(context, annotation, place, "declarations and their members")
    else:
        read.own[symbol.full_name] = annotation


def _entries(
    context: Context, annotation: ast.Annotation, symbol: Symbol
) -> tuple[tuple[ast.Expr, ast.Expr], ...] | None:
    """The arguments as the fields of a value."""
    entries: list[tuple[ast.Expr, ast.Expr]] = []
    for argument in annotation.arguments:
        if argument.key is None or isinstance(argument.value, ast.RangeExpr):
            if not isinstance(argument.value, ast.BrokenExpr):
                declared = symbol.declaration
                assert isinstance(declared, ast.StructDecl)
                name = annotation.path.text
                arguments = ", ".join(f"{each.name.text} = ..." for each in declared.fields)
                usage = f"@{name}({arguments})" if arguments else f"@{name}"
                context.diagnostics.error("E0604", argument.span, name=name, usage=usage)
            return None
        entries.append((argument.key, argument.value))
    return tuple(entries)


def _given_twice(context: Context, annotation: ast.Annotation, first: ast.Annotation) -> None:
    notes = [Note("first here", first.span)]
    context.diagnostics.error("E0603", annotation.span, notes=notes, name=annotation.path.text)


def _misplaced(context: Context, annotation: ast.Annotation, place: Place, allowed: str) -> None:
    name = annotation.path.text
    hint = _ONE_TIER if name == "tier" and place in _OF_CALLS else None
    context.diagnostics.error(
        "E0602", annotation.span, help=hint, name=name, place=place.value, allowed=allowed
    )


def bad_arguments(context: Context, annotation: ast.Annotation) -> None:
    """Report that the arguments are not as the table says."""
    name = annotation.path.text
    context.diagnostics.error("E0604", annotation.span, name=name, usage=KNOWN[name].usage)


def no_arguments(context: Context, annotation: ast.Annotation) -> bool:
    """For annotations that take none."""
    if annotation.has_parentheses:
        bad_arguments(context, annotation)
        return False
    return True


def only_argument(
    context: Context, annotation: ast.Annotation, key: str | None = None
) -> ast.Expr | ast.RangeExpr | None:
    """The one argument, unnamed or, if `key` is given, named so."""
    if len(annotation.arguments) == 1:
        argument = annotation.arguments[0]
        if key is None and argument.key is None:
            return argument.value
        if key is not None and isinstance(argument.key, ast.NameExpr) and argument.key.path.text == key:
            return argument.value
        written = argument.key.path.text if isinstance(argument.key, ast.NameExpr) else ""
        if key is not None and argument.key is not None and nearest(written, (key,)):
            hint, of = f"did you mean `{key}`?", annotation.path.text
            context.diagnostics.error("E0624", argument.key.span, help=hint, fix=key, name=written, of=of)
            return None
    bad_arguments(context, annotation)
    return None


def deprecation(context: Context, read: Read) -> str | None:
    """The text of @deprecated ("" without one), or None."""
    annotation = read.get("deprecated")
    if annotation is None:
        return None
    if not annotation.has_parentheses:
        return ""
    value = only_argument(context, annotation)
    if isinstance(value, ast.StringLiteral):
        return value.data.decode("utf-8", "replace")
    if value is not None and not isinstance(value, ast.BrokenExpr):
        bad_arguments(context, annotation)
    return None


def _join(words: Iterable[str]) -> str:
    listed = list(words)
    return listed[0] if len(listed) == 1 else ", ".join(listed[:-1]) + " or " + listed[-1]
