"""F6. Finds what of a checked program can be generated; the rest is left out, by name.

A struct of tier custom exists only in the languages for which it names a codec. Everything that needs it is
removed from the program before a generator sees it, and each cause is one warning, W0801, with all removed
items as notes: never silently, and never an error, since the schema is right. What remains keeps its place:
the indices of methods and the fingerprints are those of the whole program.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from mfidl import model
from mfidl.diagnostics import Diagnostics, Note
from mfidl.source import Span

Language = Literal["cpp", "python"]
_NAMES: dict[Language, str] = {"cpp": "C++", "python": "Python"}


def for_language(program: model.Program, language: Language, diagnostics: Diagnostics) -> model.Program:
    """The program without structs of tier custom that have no codec for the language, and all that needs
    them; the loss for the requested modules is reported.
    """
    left_out = _without_codec(program, language)
    return _without(program, left_out, diagnostics) if left_out else program


@dataclass(frozen=True, slots=True, eq=False)
class _Cause:
    """A struct without a codec for the language."""

    struct: model.Struct
    reason: str


# An item that is left out with a struct: its name, how it needs the struct, and its place.
_Lost = tuple[str, str, Span | None]


def _without(program: model.Program, left_out: dict[str, _Cause], diagnostics: Diagnostics) -> model.Program:
    modules = []
    lost: dict[_Cause, list[_Lost]] = {}
    for module in program.modules:
        cut = _Cut(left_out)
        modules.append(cut.module(module))
        if module.requested:
            for cause, holders in cut.lost.items():
                lost.setdefault(cause, []).extend(holders)
    for cause, holders in lost.items():
        _tell(cause, holders, diagnostics)
    return model.Program(tuple(modules))


def _tell(cause: _Cause, holders: list[_Lost], diagnostics: Diagnostics) -> None:
    """One warning at the struct; if its module was not requested, where it is first needed."""
    own = [each for each in holders if each[2] == cause.struct.span]
    (what, needs, span), *rest = [*own, *(each for each in holders if each not in own)]
    reason = f"{needs}, and {cause.reason}" if needs else cause.reason
    notes = [Note(f"so is {name}: {why}", at) for name, why, at in rest]
    diagnostics.warning("W0801", span, notes=notes, what=what, reason=reason)


def _without_codec(program: model.Program, language: Language) -> dict[str, _Cause]:
    """Full names of the declared types that cannot be generated, with the cause: structs without a codec, and
    all types that hold one of them, at any depth.
    """
    found: dict[str, _Cause] = {}
    holders: dict[str, list[str]] = {}
    for module in program.modules:
        for each in module.declarations:
            if isinstance(each, model.Struct | model.Union):
                if isinstance(each, model.Struct) and not _has_codec(each, language):
                    reason = f"`{each.name}` names no codec for {_NAMES[language]} (@{language}.codec)"
                    found[each.full_name] = _Cause(each, reason)
                for name in model.names_in(field.type for field in model.members(each)):
                    holders.setdefault(name, []).append(each.full_name)
    pending = list(found)
    for name in pending:  # grows during the loop
        for holder in holders.get(name, ()):
            if holder not in found:
                found[holder] = found[name]
                pending.append(holder)
    return found


def _has_codec(struct: model.Struct, language: Language) -> bool:
    named = struct.cpp_codec if language == "cpp" else struct.python_codec
    return struct.tier is not model.Tier.CUSTOM or named is not None


class _Cut:
    """One module's cuts."""

    def __init__(self, left_out: dict[str, _Cause]) -> None:
        self._left_out = left_out
        self.lost: dict[_Cause, list[_Lost]] = {}

    def module(self, module: model.Module) -> model.Module:
        return replace(
            module,
            constants=tuple(each for each in module.constants if self._keeps_const(each)),
            declarations=tuple(each for each in module.declarations if self._keeps(each)),
            services=tuple(self._service(service) for service in module.services),
            topics=tuple(each for each in module.topics if self._keeps_topic(each)),
        )

    def _keeps(self, declaration: model.Declaration) -> bool:
        match declaration:
            case model.Struct() if not declaration.fields:
                held: list[model.Type] = []
            case model.Struct() | model.Union():
                held = [field.type for field in model.members(declaration)]
            case model.Alias():
                held = [declaration.type]
            case _:
                return True
        what = f"{_kind(declaration)} `{declaration.name}`"
        cause = self._left_out.get(declaration.full_name)
        if cause is not None and cause.struct is declaration:
            self._lose(cause, what, "", declaration.span)
            return False
        return self._has_all(what, held, declaration.span)

    def _keeps_const(self, const: model.Const) -> bool:
        return self._has_all(f"constant `{const.name}`", [const.type], const.span)

    def _keeps_topic(self, topic: model.Topic) -> bool:
        return self._has_all(f"topic `{topic.name}`", [topic.type], topic.span)

    def _lose(self, cause: _Cause, what: str, needs: str, span: Span | None) -> None:
        self.lost.setdefault(cause, []).append((what, needs, span))

    def _service(self, service: model.Service) -> model.Service:
        kept = []
        for method in service.methods:
            name = f"method `{service.name}.{method.name}`"
            held: list[model.Type] = [
                field.type for struct in (method.params, method.results) for field in struct.fields
            ]
            held += [stream.type for stream in method.streams]
            if not self._has_all(name, [*held, *method.throws], method.span):
                continue
            kept.append(method)
        return replace(service, methods=tuple(kept))

    def _has_all(self, what: str, types: Iterable[model.Type], span: Span | None) -> bool:
        """Whether the holder of these types can be generated; if not, it is recorded."""
        for name in model.names_in(types):
            if name in self._left_out:
                self._lose(self._left_out[name], what, f"it needs `{name.rpartition('.')[2]}`", span)
                return False
        return True


def _kind(declaration: model.Declaration) -> str:
    if isinstance(declaration, model.Struct):
        return declaration.kind.value
    return "union" if isinstance(declaration, model.Union) else "alias"
