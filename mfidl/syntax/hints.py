"""F2. What to write where the parser expected something else: derived from the rule, the word before and the
word found. It uses the habits of other languages, but no names of the schema.
"""

from typing import Any

from mfidl.diagnostics.suggest import nearest
from mfidl.syntax import token_types as tt
from mfidl.syntax._antlr.MfidlParser import MfidlParser
from mfidl.syntax.habits import DECLARATIONS, DIRECTIONS, LABELS, MODIFIERS, here
from mfidl.syntax.lookaround import DECLARES, NAMES
from mfidl.syntax.numerals import UNITS
from mfidl.syntax.tokens import Token, TokenStream

_TYPE_WORDS = frozenset(
    (
        *("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"),
        *("bool", "string", "bytes", "timestamp", "duration", "uuid", "list", "array", "set", "map"),
    )
)


_ANNOTATION = "there are no options; what a field says more is an annotation behind its type: `@name(...)`"
_CONTAINERS = frozenset(("list", "array", "set", "map", "ref", "stream"))


def hint(context: Any, stream: TokenStream, token: Token) -> str | None:
    """A sentence for `help`, or None. `token` is the one found, the next of the stream."""
    return _anywhere(stream, token) or _by_rule(context, stream, token)


def _anywhere(stream: TokenStream, token: Token) -> str | None:
    """What two adjacent words mean without knowing the rule."""
    previous, after = stream.LT(-1), stream.LT(2)
    if token.type == tt.COLON and (_touches(token, after, tt.COLON) or _touches(previous, token, tt.COLON)):
        return "names are joined with `.`, not with `::`"
    if token.type == tt.MINUS and previous.type in NAMES and after.type in NAMES:
        return f"names are ASCII letters, digits and `_`: `{_short(previous.text)}_{_short(after.text)}`"
    if token.type == tt.STRING and previous.type == tt.STRING:
        return "strings are not joined: write one"
    if token.type == tt.STRING and previous.type == tt.NAME and previous.end == token.start:
        return "strings have no prefix"
    if token.type == tt.MINUS and after.type == tt.MINUS:
        return "comments begin with `//`"
    known_generic = previous.text in ("stream", "list", "set", "ref") and stream.LT(-2).type != tt.SEMICOLON
    if known_generic and token.type == tt.NAME and after.type not in (tt.LPAREN, tt.LESS):
        return f"write `{previous.text}<{here(_short(token.text))}>`"
    return None


def _by_rule(context: Any, stream: TokenStream, token: Token) -> str | None:
    previous, after = stream.LT(-1), stream.LT(2)
    match context:
        case MfidlParser.EnumBodyContext() | MfidlParser.EnumMemberContext() if previous.text == "reserved":
            return "an enum reserves nothing: keep the member, with @deprecated, or leave a comment"
        case MfidlParser.StructMemberContext() | MfidlParser.FieldContext():
            return _field(context, stream, token, previous)
        case MfidlParser.FieldListContext() if context.opening is None:
            return _method(context.parentCtx, stream, token, previous)
        case MfidlParser.FieldListContext():
            return "parameters are separated by `,`" if token.type == tt.SEMICOLON else None
        case MfidlParser.MethodContext():
            return _method(context, stream, token, previous)
        case MfidlParser.StructDeclContext() | MfidlParser.ServiceBodyContext():
            return _head(context, token)
        case MfidlParser.EnumBodyContext():
            return _enum(token, previous, after)
        case MfidlParser.NameContext():
            return _name(context, token, previous, after)
        case MfidlParser.AnnotationContext() if token.type == tt.COLON and previous.type in NAMES:
            return f"arguments are written `{_short(previous.text)} = value`"
        case MfidlParser.AnnotationContext() if token.type in _WRONG_RANGES:
            return "a range is written `low..high`, and either side may be left out"
        case MfidlParser.TypeArgumentContext() if previous.type == tt.COMMA and token.type in _NO_LENGTHS:
            return "the length of an array is a whole number: `array<u8, 4>`"
        case MfidlParser.ValueContext() if token.type == tt.LPAREN:
            return "lists are written `[a, b]`, structs `{ x: 1 }`"
        case MfidlParser.ValueContext() if token.type == tt.DOT and after.type == tt.INTEGER:
            return f"digits stand on both sides of the point: `0.{_short(after.text)}`"
        case MfidlParser.EntryContext() if token.type == tt.ASSIGN:
            return "fields of a value are written `{ x: 1 }`"
        case MfidlParser.EntryContext() if token.type in (tt.COMMA, tt.CLOSE):
            return "a list is written `[1, 2]`; in `{ }` each value has its name: `{ x: 1, y: 2 }`"
    if token.type == tt.LBRACKET:
        return "annotations are written `@name`"
    if token.type == tt.STRING and isinstance(context, MfidlParser.FileContext):
        return "documentation is written `/// ...` before what it is about"
    return _declaration(context, token, previous)


def _declaration(context: Any, token: Token, previous: Token) -> str | None:
    """Declarations without a body."""
    match context:
        case MfidlParser.DeclContext() if token.type == tt.ASSIGN:
            return "the arguments of an annotation stand in parentheses: `@name(...)`"
        case MfidlParser.DeclContext() if context.parentCtx.annotations:
            return "annotations stand before the declaration that they are about"
        case MfidlParser.ConstDeclContext():
            return _constant(context, token, previous)
        case MfidlParser.TopicDeclContext():
            return "a topic is written `topic Name : Type;`"
        case MfidlParser.AgentDeclContext() if token.type in NAMES:
            return f"write `{_short(previous.text)}: {here(_short(token.text))}`"
        case MfidlParser.AgentDeclContext() if token.type == tt.ASSIGN:
            return "an agent has a type: `agent name: string;`"
        case MfidlParser.AliasDeclContext() if token.type == tt.COLON:
            return "an alias is written with `=`"
        case MfidlParser.AliasDeclContext() if token.text == "struct":
            return f"a struct is written `struct {_short(previous.text)} {{ ... }}`"
        case MfidlParser.ImportDeclContext():
            return _import(token, previous)
        case MfidlParser.ModuleDeclContext() if token.type == tt.OPEN_BRACE:
            return "a file is one module: write `module name;`, without braces"
    return None


def _constant(context: Any, token: Token, previous: Token) -> str | None:
    if token.type == tt.AT:
        return "the annotations of a constant stand behind its type"
    if context.init is not None:
        return _behind_value(token, previous)
    if context.of is not None:
        return "the value follows a `=`" if token.type == tt.COLON else None
    if token.type == tt.ASSIGN:
        return "the type comes before the value: `NAME: u32 = 1`"
    if token.type not in NAMES:
        return None
    if token.text in _TYPE_WORDS:
        return f"write `{_short(previous.text)}: {token.text}`"
    return f"the name comes first: `{_short(token.text)}: {here(_short(previous.text))}`"


def _behind_value(token: Token, previous: Token) -> str | None:
    """A hint for what follows a value that was complete."""
    touches = previous.end == token.start
    if token.type in (tt.LESS, tt.GREATER, tt.MINUS, tt.LPAREN) or (token.type == tt.DOT and not touches):
        return "values are not computed: write the result"
    if token.type == tt.DOT and previous.type == tt.INTEGER:
        return f"digits stand on both sides of the point: `{_short(previous.text)}.0`"
    if token.type == tt.DOT:
        return "values are not computed: write the result"
    if token.type == tt.COMMA:
        return "a list is written `[1, 2]`, and digits are grouped with `_`: `1_000`"
    if token.type == tt.OPEN_BRACE and previous.type in NAMES:
        return "the type is known already: write `{ ... }` alone"
    if token.text in UNITS and previous.type == tt.INTEGER:
        return f"a number and its unit are written together: `{previous.text}{token.text}`"
    return None


def _import(token: Token, previous: Token) -> str | None:
    if previous.type == tt.STRING:
        if token.type in NAMES:
            return 'another name is given with `as`: `import "path.mfidl" as name;`'
        return "an import names one file" if token.type == tt.COMMA else None
    if token.type in NAMES or token.type == tt.LESS:
        return 'an import names a file: `import "path.mfidl";`'
    return None


_NO_LENGTHS = frozenset((tt.FLOAT, tt.MINUS, tt.STRING, tt.DURATION))
_WRONG_RANGES = frozenset((tt.DOT, tt.MINUS, tt.COLON, tt.GREATER, tt.LESS, tt.DOTS))


def meant_declaration(word: str, following: Token) -> tuple[str | None, str | None]:
    """What to write instead of a word that begins no declaration: advice, and the keyword if it is one."""
    if following.type in DECLARES and not nearest(word, ("open",)):
        return f"leave `{_short(word)}` out", None
    if word.lower() in DECLARATIONS:
        advice, meant = DECLARATIONS[word.lower()]
        return advice, meant or None
    if following.type == tt.LPAREN and word not in MODIFIERS:
        return f"annotations begin with `@`: `@{_short(word)}(...)`", None
    found = nearest(word, [text for text, number in tt.KEYWORDS.items() if number in DECLARES])
    return (f"did you mean `{found}`?", found) if found else (None, None)


# Fields and parameters ------------------------------------------------------------------------------------


def _field(context: Any, stream: TokenStream, token: Token, previous: Token) -> str | None:
    if context.init is not None:
        return _behind_value(token, previous)
    if context.of is not None:
        return _behind_type(stream, token, previous)
    if previous.text == "reserved":
        return _reserved(token)
    if previous.type in (tt.INTEGER, tt.HEX):
        return _behind_number(context, token)
    if context.annotations and context.id_ is None:
        return "the annotations of a field stand behind its type, before the `;`"
    if token.type == tt.LPAREN:
        return "methods stand in a service: `service Name { f(); }`"
    if token.type == tt.LESS:
        return "the name comes first: `name: " + _short(previous.text) + "<...>`"
    if token.type == tt.QUESTION:
        return f"the `?` follows the type: `{_short(previous.text)}: T?`"
    if token.type == tt.AT:
        return "annotations stand behind the type, and numbers before the name: `1: name: type;`"
    if token.type == tt.ASSIGN:
        return f"the type comes before the value: `{_short(previous.text)}: u32 = 1`"
    if token.type == tt.DOT:
        plain = stream.LT(3).type in (tt.COLON, tt.RPAREN)
        return "a field has a name without dots" if plain else "the name comes first: `name: module.Type`"
    if token.type in (tt.SEMICOLON, tt.COMMA, tt.CLOSE, tt.RPAREN) and previous.type in NAMES:
        word = _short(previous.text)
        if word in _TYPE_WORDS:
            return f"a name is missing before the type: `name: {word}`"
        return f"a type is missing behind the name: `{word}: u32`"
    if token.type not in NAMES or previous.type not in NAMES:
        return None
    return _two_words(stream, token, previous)


def _two_words(stream: TokenStream, token: Token, previous: Token) -> str:
    """`u32 doc`, `optional string s`, `x u32`."""
    first, second = _short(previous.text), _short(token.text)
    third, fourth = stream.LT(2), stream.LT(3)
    if first in LABELS or first in DIRECTIONS:
        name, kind = "name", "T"
        if third.type == tt.COLON and fourth.type in NAMES:
            name, kind = second, here(_short(fourth.text))
        elif third.type in NAMES:
            name, kind = _short(third.text), here(second)
        if first in DIRECTIONS:
            return DIRECTIONS[first].format(name, kind)
        return f"write `{name}: {LABELS[first].format(kind)}`"
    if first == "oneof":
        return "alternatives are declared beside the struct: `union Name { a: T; b: U; }`"
    if first == "unsigned":
        return "unsigned types are `u8` to `u64`"
    if first in MODIFIERS:
        return f"leave `{first}` out"
    if second in _TYPE_WORDS and first not in _TYPE_WORDS:
        return f"write `{first}: {second}`"
    if third.type == tt.LBRACKET:
        return f"the name comes first: `{second}: array<{here(first)}, N>`"
    return f"the name comes first: `{second}: {here(first)}`"


def _behind_number(context: Any, token: Token) -> str | None:
    if token.type == tt.AT:
        return "annotations stand before the number, or behind the type: `@deprecated 1: name: type;`"
    if token.type in NAMES and getattr(context, "reserved", None):
        return "a range is written `1..5`, and several are separated by `,`"
    if token.type in NAMES:
        return f"a `:` follows the number: `1: {_short(token.text)}`"
    return "a number is written `1: name: type;`" if token.type == tt.DOT else None


def _reserved(token: Token) -> str:
    if token.type in NAMES:
        return f'names stand in quotes: `reserved "{_short(token.text)}"`'
    return 'what is reserved is named: `reserved 5, "old_name";`'


def _behind_type(stream: TokenStream, token: Token, previous: Token) -> str | None:
    word = token.text.lower()
    if stream.LT(-2).type == tt.AT and token.type in (tt.LBRACKET, tt.OPEN_BRACE):
        return "the arguments of an annotation stand in parentheses: `@name(...)`"
    if token.type == tt.LBRACKET:
        return _option(stream) or _brackets(token, previous)
    if token.type == tt.COLON:
        return "a default is written `= value`"
    if token.type in NAMES and stream.LT(2).type == tt.LPAREN:
        return f"annotations begin with `@`: `@{_short(token.text)}(...)`"
    if token.type == tt.LPAREN and previous.text in _CONTAINERS:
        return "type arguments stand in `< >`: `list<T>`, `map<K, V>`"
    if token.type == tt.GREATER:
        return "there is one `>` too many"
    if token.type == tt.LPAREN:
        return "limits are annotations: `@length(..64)`, `@range(0..10)`"
    if token.type == tt.COMMA:
        return "fields end with `;`"
    if word in ("default", "defaults"):
        return "a default is written `= value`"
    if word in ("not", "null", "required", "nonnull"):
        return "a field always has a value, unless its type has a `?`"
    if word == "optional":
        return "what may be absent has a `?` behind its type"
    if previous.text == "unsigned":
        return "unsigned types are `u8` to `u64`"
    if previous.text == "const":
        return "leave `const` out"
    return None


def _option(stream: TokenStream) -> str | None:
    """`[default = 5]`, `[deprecated = true, (rules).min = 1]`."""
    name, equals, value = stream.LT(2), stream.LT(3), stream.LT(4)
    if name.type == tt.LPAREN:
        return _ANNOTATION
    if equals.type != tt.ASSIGN or name.type not in NAMES:
        return None
    if name.text in ("default", "default_value"):
        return f"a default is written `= {_short(value.text)}`"
    return "write `@deprecated` behind the type" if name.text == "deprecated" else _ANNOTATION


def _brackets(token: Token, previous: Token) -> str:
    kind = here(_short(previous.text))
    if kind == "bytes":
        return "bytes of a fixed number are `array<u8, N>`"
    if previous.end == token.start and previous.text[:1].islower() and kind not in _CONTAINERS:
        return f"write `list<{kind}>`, or `array<{kind}, N>`"
    return "type arguments stand in `< >`: `list<T>`, `map<K, V>`"


# Methods, heads, enums, names -------------------------------------------------------------------------------


def _method(context: Any, stream: TokenStream, token: Token, previous: Token) -> str | None:
    if token.type == tt.COLON and context.arrow is not None:
        return "several results stand in parentheses: `-> (a: T, b: U)`"
    if token.type == tt.COLON and context.params is None:
        return f"a service has methods only: `{_short(previous.text)}() -> type;`"
    if token.type == tt.COLON:
        return "results are written `name(...) -> type;`"
    if token.type == tt.MINUS and stream.LT(2).type == tt.GREATER:
        return "write `->` without a space in between"
    if previous.text == "throws" and context.arrow is not None:
        return "a method without results has no `->`"
    if context.params is None and token.type in NAMES and previous.type in NAMES:
        first, second = _short(previous.text), _short(token.text)
        if first == "oneway":
            name = _short(stream.LT(2).text) if stream.LT(2).type in NAMES else second
            return f"write `@oneway {name}(...);`"
        if first in MODIFIERS or stream.LT(2).type in NAMES:
            return f"leave `{first}` out: a method begins with its name"
        return f"the name comes first, the result last: `{second}(...) -> {here(first)};`"
    if context.params is None and token.type in (tt.SEMICOLON, tt.CLOSE, tt.ARROW) and previous.type in NAMES:
        return f"a method has parentheses, even without parameters: `{_short(previous.text)}();`"
    if token.text in ("returns", "return"):
        return "results are written `-> type`"
    if token.text in ("raises", "throw", "raise"):
        return "errors are written `throws Name`"
    if token.text in ("const", "noexcept"):
        return f"leave `{token.text}` out"
    if token.type == tt.OPEN_BRACE:
        return "a method has no body here: end it with `;`"
    if token.type == tt.COMMA:
        return "methods end with `;`"
    if token.type in (tt.ASSIGN, tt.GREATER):
        return "results are written `-> type`"
    if previous.type == tt.ARROW:
        return "name a type, or leave `->` out"
    return _behind_method(context, token) if token.type in NAMES else None


def _behind_method(context: Any, token: Token) -> str | None:
    if nearest(token.text, ("throws",)):
        return "did you mean `throws`?"
    if context.errors:
        return "errors are separated by `,`"
    return None if context.arrow is not None else f"results are written `-> {here(_short(token.text))}`"


def _head(context: Any, token: Token) -> str | None:
    if token.type == tt.COLON or token.text in ("extends", "implements", "inherits"):
        if isinstance(context, MfidlParser.ServiceBodyContext):
            return "a service extends one other: `service Name extends Other { ... }`"
        if context.kind.type == tt.ERROR:
            return "errors do not inherit: repeat the fields, or give both a field of one struct"
        return "structs do not inherit: make the other one a field"
    if isinstance(context, MfidlParser.ServiceBodyContext) and token.type == tt.COMMA:
        return "a service extends one other, and has one agent"
    if isinstance(context, MfidlParser.ServiceBodyContext) and token.type in NAMES:
        return "an agent is named with `per`: `service Name per agent { ... }`"
    if token.type == tt.DOT:
        return "what a file declares belongs to its module: write the name alone"
    if token.type == tt.LESS:
        return "declarations have no type parameters"
    if token.type == tt.LPAREN:
        return "the members stand in `{ }`"
    if token.type == tt.ASSIGN:
        return "write `{` without the `=`"
    return None


def _enum(token: Token, previous: Token, after: Token) -> str | None:
    if token.type == tt.SEMICOLON:
        return "members are separated by `,`"
    if token.type in (tt.LESS, tt.MINUS) and previous.type in (tt.INTEGER, tt.HEX):
        return "values are not computed: write the result"
    if token.type in NAMES and previous.text in ("class", "struct"):
        return f"leave `{previous.text}` out"
    if token.type == tt.COLON and after.type in (tt.INTEGER, tt.HEX):
        return "the number of a member is written `= 1`"
    if token.type in NAMES and token.text in _TYPE_WORDS:
        return f"write `{_short(previous.text)}: {token.text}`"
    if token.type == tt.STRING:
        return "a name is written here without quotes"
    if token.type == tt.ASSIGN:
        return "write `{` without the `=`"
    return None


def _name(context: Any, token: Token, previous: Token, after: Token) -> str | None:
    """Hints for where a name, or a type, should be."""
    if previous.type == tt.THROWS:
        if token.type == tt.LPAREN:
            return "errors stand without parentheses: `throws A, B`"
        return "name the errors, or leave `throws` out"
    member = context.parentCtx
    if isinstance(member, MfidlParser.StructMemberContext | MfidlParser.FieldContext) and member.annotations:
        return "the annotations of a field stand behind its type, before the `;`"
    if token.type in (tt.INTEGER, tt.HEX) and previous.type == tt.COLON and after.type == tt.COLON:
        return f"numbers come first: `{_short(token.text)}: name: type;`"
    if token.type == tt.LBRACKET:
        return "arrays are written `array<T, N>`, lists `list<T>`"
    if token.type == tt.LPAREN and previous.type == tt.COLON:
        return "a pair or tuple is a struct: declare one"
    if token.type in (tt.INTEGER, tt.HEX, tt.FLOAT, tt.DURATION, tt.BAD_NUMBER):
        if previous.type == tt.COLON:
            return "a value follows the type: `name: u32 = 1`"
        return "a name begins with a letter or `_`"
    if token.type == tt.STRING and previous.type == tt.COLON:
        return 'write `string`, and the value behind it: `name: string = "text"`'
    if token.type == tt.STRING:
        return "a name is written here without quotes"
    if token.type == tt.LESS:
        return "type arguments follow the name of a type: `list<u32>`"
    if token.type == tt.QUESTION:
        return "the `?` follows the type: `T?`"
    return None


def _touches(left: Token, right: Token, ttype: int) -> bool:
    return left.type == ttype and right.type == ttype and left.end == right.start


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
