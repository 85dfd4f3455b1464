"""F6. What a user's templates may use: Jinja2 in its sandbox, strict about names, with a few filters of ours.

camel snake   as the C++ and Python generators convert names
spell         a type as the schema language writes it: list<sf1.search.Hit>
kind          what a type or declaration is: primitive named list array set map optional ref alias; struct
              error enum flags union alias
stem          a module's path without `.mfidl`: sf1/search
"""

from collections.abc import Iterable, Mapping
from typing import Any

from jinja2 import FunctionLoader, StrictUndefined
from jinja2.exceptions import TemplateRuntimeError, UndefinedError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

from mfidl import model
from mfidl.diagnostics import did_you_mean
from mfidl.emit.naming import camel, snake
from mfidl.source import SourceFile

_TYPES: dict[type, str] = {
    model.Primitive: "primitive",
    model.Named: "named",
    model.ListOf: "list",
    model.ArrayOf: "array",
    model.SetOf: "set",
    model.MapOf: "map",
    model.OptionalOf: "optional",
    model.RefOf: "ref",
    model.AliasOf: "alias",
}
_DECLARATIONS: dict[type, str] = {
    model.Enum: "enum",
    model.Flags: "flags",
    model.Union: "union",
    model.Alias: "alias",
}


class UnknownName(UndefinedError):  # noqa: N818 - as Jinja2 names its own
    """A template used a name that is not there."""

    def __init__(self, message: str, name: str, help_: str | None) -> None:
        super().__init__(message)
        self.name = name
        self.help = help_


def environment(sources: Mapping[str, SourceFile]) -> ImmutableSandboxedEnvironment:
    """`sources`: all templates, by the name that `include` has for them."""

    def load(name: str) -> tuple[str, str, None] | None:
        found = sources.get(name)
        return None if found is None else (found.text, found.path, None)

    made = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(load),
        undefined=_Unknown,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    made.filters.update(camel=_camel, snake=_snake, spell=_spell, kind=_kind, stem=_stem)
    return made


class _Unknown(StrictUndefined):
    """Reports which name is unknown, and which one may have been meant."""

    __slots__ = ()

    def __init__(
        self,
        hint: str | None = None,
        obj: Any = missing,
        name: str | None = None,
        exc: Any = UndefinedError,  # noqa: ARG002 - Jinja2's signature
    ) -> None:
        def unknown(_message: str) -> UnknownName:
            if hint is not None:
                return UnknownName(hint.rstrip("."), str(name), None)
            if obj is missing:
                return UnknownName(f"`{name}` is unknown here", str(name), _top_level(str(name)))
            known = [each for each in dir(obj) if not each.startswith("_")]
            message = f"{type(obj).__name__} has no `{name}`"
            return UnknownName(message, str(name), did_you_mean(str(name), known))

        super().__init__(hint, obj, name, unknown)  # type: ignore[arg-type]


def _top_level(name: str) -> str | None:
    if name == "module":
        return "a template whose file name has a placeholder, `{{ module.name }}.md.j2`, is given each module"
    return did_you_mean(name, ("module", "program", "loop"))


def _text(value: object, word: str) -> str:
    if not isinstance(value, str):
        raise TemplateRuntimeError(f"`{word}` takes a text, such as field.name, not a {type(value).__name__}")
    return value


def _camel(value: object) -> str:
    return camel(_text(value, "camel"))


def _snake(value: object) -> str:
    return snake(_text(value, "snake"))


def _stem(value: object) -> str:
    return _text(value, "stem").removesuffix(".mfidl")


def _spell(value: object) -> str:
    if not isinstance(value, tuple(_TYPES)):
        raise TemplateRuntimeError(f"`spell` takes a type, such as field.type, not a {type(value).__name__}")
    return model.spell(value)  # type: ignore[arg-type]


def _kind(value: object) -> str:
    if isinstance(value, model.Struct):
        return value.kind.value
    found = _TYPES.get(type(value)) or _DECLARATIONS.get(type(value))
    if found is None:
        raise TemplateRuntimeError(f"`kind` takes a type or a declaration, not a {type(value).__name__}")
    return found


def known_names(made: ImmutableSandboxedEnvironment) -> Iterable[str]:
    """Filters and tests, for suggestions."""
    return (*made.filters, *made.tests)
