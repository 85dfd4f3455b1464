"""F6. What of a checked program can be generated: the rest is left out, by name.

The language is larger than what the runtimes can do today (streams, topics and replication are later), and a
struct of tier custom is there only in the languages that it names a codec for. Whatever needs them is cut out
of the program before a generator sees it, and each cut is one warning, W0801: never in silence, and never an
error, since the schema is right. What stays keeps its place: the indices of methods and the fingerprints are
those of the whole program.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from mfidl import model
from mfidl.diagnostics import Diagnostics
from mfidl.source import Span

Language = Literal["cpp", "python"]
_NAMES: dict[Language, str] = {"cpp": "C++", "python": "Python"}


def generable(program: model.Program, diagnostics: Diagnostics) -> model.Program:
    """The program without what no generator can do yet; what that costs the requested modules is reported."""
    return _without(program, {}, diagnostics)


def for_language(program: model.Program, language: Language, diagnostics: Diagnostics) -> model.Program:
    """The program without the structs of tier custom that name no codec for the language."""
    left_out = _without_codec(program, language)
    return _without(program, left_out, diagnostics) if left_out else program


def _without(program: model.Program, left_out: dict[str, str], diagnostics: Diagnostics) -> model.Program:
    modules = []
    for module in program.modules:
        cut = _Cut(left_out, diagnostics if module.requested else Diagnostics())
        modules.append(cut.module(module))
    return model.Program(tuple(modules))


def _without_codec(program: model.Program, language: Language) -> dict[str, str]:
    """Full names of the declared types that cannot be generated, with what is in the way: structs without a
    codec, and all that hold one of them, however far around.
    """
    found: dict[str, str] = {}
    holders: dict[str, list[str]] = {}
    for module in program.modules:
        for each in module.declarations:
            if isinstance(each, model.Struct | model.Union):
                if isinstance(each, model.Struct) and not _has_codec(each, language):
                    found[each.full_name] = (
                        f"`{each.name}` names no codec for {_NAMES[language]} (@{language}.codec)"
                    )
                for name in model.names_in(field.type for field in model.members(each)):
                    holders.setdefault(name, []).append(each.full_name)
    pending = list(found)
    for name in pending:  # grows while it is walked
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

    def __init__(self, left_out: dict[str, str], diagnostics: Diagnostics) -> None:
        self._left_out = left_out
        self._diagnostics = diagnostics

    def module(self, module: model.Module) -> model.Module:
        for topic in module.topics:
            self._warn(f"topic `{topic.name}`", "topics are not generated yet", topic.span)
        return replace(
            module,
            constants=tuple(each for each in module.constants if self._keeps_const(each)),
            declarations=tuple(each for each in module.declarations if self._keeps(each)),
            services=tuple(self._service(service) for service in module.services),
            topics=(),
        )

    def _warn(self, what: str, reason: str, span: Span | None) -> None:
        self._diagnostics.warning("W0801", span, what=what, reason=reason)

    def _keeps(self, declaration: model.Declaration) -> bool:
        match declaration:
            case model.Struct() if not declaration.fields:
                reason = self._left_out.get(declaration.full_name)
            case model.Struct() | model.Union():
                reason = self._why(field.type for field in model.members(declaration))
            case model.Alias():
                reason = self._why([declaration.type])
            case _:
                reason = None
        if reason is not None:
            self._warn(f"{_kind(declaration)} `{declaration.name}`", reason, declaration.span)
        return reason is None

    def _keeps_const(self, const: model.Const) -> bool:
        reason = self._why([const.type])
        if reason is not None:
            self._warn(f"constant `{const.name}`", reason, const.span)
        return reason is None

    def _service(self, service: model.Service) -> model.Service:
        kept = []
        for method in service.methods:
            name = f"method `{service.name}.{method.name}`"
            reason = self._method_fault(method)
            if reason is not None:
                self._warn(name, reason, method.span)
                continue
            if method.cached is not None:
                self._diagnostics.warning("W0802", method.span, what=name)
                method = replace(method, cached=None)
            kept.append(method)
        return replace(service, methods=tuple(kept))

    def _method_fault(self, method: model.Method) -> str | None:
        if method.param_stream is not None or method.result_stream is not None:
            return "streams are not generated yet"
        if method.replicated is not None:
            return "replication is not generated yet"
        held: list[model.Type] = [
            field.type for struct in (method.params, method.results) for field in struct.fields
        ]
        return self._why([*held, *method.throws])

    def _why(self, types: Iterable[model.Type]) -> str | None:
        """Why what holds these types cannot be generated, or None."""
        for name in model.names_in(types):
            if name in self._left_out:
                return f"it needs `{name.rpartition('.')[2]}`, and {self._left_out[name]}"
        return None


def _kind(declaration: model.Declaration) -> str:
    if isinstance(declaration, model.Struct):
        return declaration.kind.value
    return "union" if isinstance(declaration, model.Union) else "alias"
