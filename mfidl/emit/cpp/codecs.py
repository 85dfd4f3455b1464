"""F6. Views of codecs: Febird<S>, Memcpy<S> and Constraints<S> of a struct or union."""

import re

from mfidl.emit.cpp.archive import Archives
from mfidl.emit.cpp.constraints import Checks
from mfidl.emit.cpp.facts import Facts, varint_size
from mfidl.emit.cpp.heap import HeapOfNew
from mfidl.emit.cpp.literals import Literals
from mfidl.emit.cpp.names import AlternativeNames, Names
from mfidl.emit.cpp.text import WIDTH, argument, block, conjunction, definition, fill, head
from mfidl.emit.cpp.types import CppTypes
from mfidl.emit.cpp.view import (
    ArchiveView,
    CodecView,
    ConstraintsView,
    CustomView,
    FebirdView,
    MemcpyView,
    SlotView,
)
from mfidl.model import Field, Program, Stream, Struct, StructKind, Tier, Union

_LAMBDA = re.compile(r"\[\]\(const auto& \w+\) \{ ")
_IMPLICIT = (StructKind.PARAMS, StructKind.RESULTS)


class Codecs:
    """Makes the views; `members` are the C++ names of a struct's fields."""

    def __init__(
        self, program: Program, facts: Facts, types: CppTypes, names: Names, literals: Literals
    ) -> None:
        self.facts = facts
        self._program = program
        self._types = types
        self._names = names
        self._literals = literals
        self._heap = HeapOfNew(program)

    def heap_of_new(self, declared: Struct | Union) -> int:
        """Bytes that a new value holds by its defaults."""
        own = isinstance(declared, Union) or (declared.cpp_codec is None and declared.cpp_type is None)
        return self._heap.of(declared) if own else 0

    def codec(self, struct: Struct, qualified: str, members: tuple[str, ...]) -> CodecView:
        if struct.tier is Tier.ARCHIVE:
            unknown = self._names.owner(struct.full_name).unknown_fields(struct)
            return self._archives(struct).struct(struct, qualified, members, unknown)
        if struct.cpp_codec is not None:
            return CustomView(
                struct.cpp_codec.codec.removeprefix("::"), struct.cpp_codec.type.removeprefix("::")
            )
        if struct.layout is not None:
            return self._memcpy(struct, qualified, members)
        return self._febird(struct, qualified, members)

    def _archives(self, declared: Struct | Union) -> Archives:
        return Archives(self._program, self._types.within(declared), self._literals.within(declared))

    def _febird(self, struct: Struct, qualified: str, members: tuple[str, ...]) -> FebirdView:
        values = [f"value.{member}" for member in members]
        levelled = struct.kind not in _IMPLICIT
        size = fill("return febird_size(", values, ");", indent=2).lstrip()
        bound = fill("return febird_bound(", values, ");", indent=2).lstrip()
        write = fill("febird_write(", ["writer", *values], ");", indent=4).lstrip()
        reads = [
            f'if (!read_field(reader, "{field.name}", {value})) return false;'
            for field, value in zip(struct.fields, values, strict=True)
        ]
        used = bool(members)
        owner = f"Febird<{qualified}>::"
        one = argument(f"const {qualified}&", "value", used)
        in_rows = struct.kind is not StructKind.ERROR
        many = (argument(f"const {qualified}*", "values", used), argument("std::size_t", "count", used))
        size_head, bound_head = (
            head(f"std::size_t {owner}{name}(", [one], ") noexcept") for name in ("size", "bound")
        )
        write_head = head(
            f"void {owner}write(",
            [argument("Writer&", "writer", used), *(many if in_rows else (one,))],
            ") noexcept",
        )
        read_head = head(
            f"bool {owner}read(",
            [
                argument("Reader&", "reader", used or levelled),
                argument(f"{qualified}&", "value", used),
            ],
            ")",
        )
        each = [
            f"for (const {qualified}* const end = values + count; values != end; ++values) {{",
            f"  const {qualified}& value = *values;",
            f"  {write}",
            "}",
        ]
        writes = each if in_rows else [write]
        if levelled:
            reads = ["if (!reader.enter()) return false;", *reads, "reader.leave();", "return true;"]
        else:
            reads = _last_returned(reads)
        return FebirdView(
            min_size=self.facts.struct_min_size(struct),
            declarations=_struct_declarations(qualified, in_rows),
            functions=(
                definition(size_head, [size]),
                definition(bound_head, [bound]),
                definition(write_head, writes if members else []),
                definition(read_head, reads),
            ),
        )

    def _memcpy(self, struct: Struct, qualified: str, members: tuple[str, ...]) -> MemcpyView:
        assert struct.layout is not None
        layout = struct.layout
        offsets = [slot.offset for slot in layout.slots]
        placed = list(zip(struct.fields, members, offsets, strict=True))
        checks = [
            f"Memcpy<{self._types.spell(field.type)}>::valid({_at('from', offset)})"
            for field, _, offset in placed
            if not self.facts.all_bits_valid(field.type)
        ]
        functions = [
            block(
                f"static bool valid({argument('const std::byte*', 'from', bool(checks))}) noexcept",
                [_conjunction(checks)],
            )
        ]
        explained = [
            f"explain_field<{self._types.spell(field.type)}>"
            f'(reader, "{field.name}", {_at("from", offset)}, {_at("at", offset)})'
            for field, _, offset in placed
            if not self.facts.all_bits_valid(field.type)
        ]
        if explained:
            head = "static bool explain(Reader& reader, const std::byte* from, std::size_t at)"
            functions += [block(head, [_conjunction(explained)]), *self._byte_limits(placed)]
        image = self.facts.struct_is_image(struct)
        if image:
            clearing = [f"std::memset({_at('at', each.offset)}, 0, {each.size});" for each in layout.padding]
            clearing += [
                f"Memcpy<{self._types.spell(field.type)}>::clear_padding({_at('at', offset)});"
                for field, _, offset in placed
                if self.facts.has_padding(field.type)
            ]
            parameter = argument("std::byte*", "at", bool(clearing))
            functions.insert(0, block(f"static void clear_padding({parameter}) noexcept", clearing))
        else:
            functions += [
                _slot_function("store", ("std::byte*", "to"), f"const {qualified}&", placed),
                _slot_function("load", ("const std::byte*", "from"), f"{qualified}&", placed),
            ]
        return MemcpyView(
            size=layout.size,
            align=layout.align,
            all_bits_valid=_boolean(not checks),
            has_padding=_boolean(self.facts.struct_has_padding(struct)),
            functions=tuple(functions),
            slots=tuple(SlotView(member, offset) for _, member, offset in placed),
            size_assert=conjunction(
                "static_assert(",
                [f"sizeof({qualified}) == {layout.size}", f"alignof({qualified}) == {layout.align}"],
                ");",
            ),
            asserts_template="cpp/codec/layout_asserts.j2" if image else "cpp/nothing.j2",
        )

    def _byte_limits(self, placed: list[tuple[Field, str, int]]) -> tuple[str, str]:
        """The limits with which rows of the struct are checked register by register
        (mf/codec/memcpy_layout.hpp)."""
        limited = [
            (self._types.spell(field.type), offset)
            for field, _, offset in placed
            if not self.facts.all_bits_valid(field.type)
        ]
        kinds = list(dict.fromkeys(f"ByteLimited<{type_}>" for type_, _ in limited))
        lowered = [f"Memcpy<{type_}>::limit({_at('at', offset)});" for type_, offset in limited]
        return (
            conjunction("static constexpr bool kByteLimits = ", kinds, ";", indent=2),
            block("static void limit(std::byte* at) noexcept", lowered),
        )

    def union_codec(
        self, union: Union, qualified: str, names: tuple[AlternativeNames, ...]
    ) -> FebirdView | ArchiveView:
        if union.tier is Tier.ARCHIVE:
            return self._archives(union).union(union, qualified, names)
        cases = list(zip(union.alternatives, names, strict=True))
        sizes, writes, reads = [], [], []
        for field, named in cases:
            number, value = field.number or 0, f"value.{named.accessor}()"
            sizes += [
                f"  case Kind::{named.kind}:",
                f"    return {varint_size(number)} + febird_size({value});",
            ]
            writes += [
                f"  case Kind::{named.kind}:",
                f"    write_varint(writer, {number});",
                f"    return febird_write(writer, {value});",
            ]
            reads.append(f"  case {number}:")
            if self._types.boxed_in(union, field):
                size = f"sizeof({self._types.spell(field.type)})"
                reads.append(f"    if (!reader.charge(1, {size})) return false;")
            reads += [
                f"    if (!value.{named.test}()) value.{named.emplace}();",
                f'    if (!read_field(reader, "{field.name}", {value})) return false;',
                "    break;",
            ]
        unknown = "a union has an alternative that its type does not know"
        kinds = f"using Kind = {qualified}::Kind;"
        functions = (
            definition(
                head(f"std::size_t Febird<{qualified}>::size(", [f"const {qualified}& value"], ") noexcept"),
                [kinds, "switch (value.kind()) {", *sizes, "}", "return 0;"],
            ),
            definition(
                head(
                    f"void Febird<{qualified}>::write(",
                    ["Writer& writer", f"const {qualified}& value"],
                    ") noexcept",
                ),
                [kinds, "switch (value.kind()) {", *writes, "}"],
            ),
            definition(
                head(f"bool Febird<{qualified}>::read(", ["Reader& reader", f"{qualified}& value"], ")"),
                [
                    "const std::size_t start = reader.offset();",
                    "std::uint32_t number = 0;",
                    "if (!reader.enter() || !read_varint(reader, number)) return false;",
                    "switch (number) {",
                    *reads,
                    "  default:",
                    f'    return reader.fail(Fault::unknown_alternative, "{unknown}", start);',
                    "}",
                    "reader.leave();",
                    "return true;",
                ],
            ),
        )
        return FebirdView(
            min_size=self.facts.union_min_size(union),
            declarations=_febird_declarations(qualified),
            functions=functions,
        )

    def union_constraints(self, union: Union, names: tuple[AlternativeNames, ...]) -> ConstraintsView:
        if not self.facts.union_constrained(union):
            return ConstraintsView(())
        checks = Checks(self.facts, self._types.within(union))
        statements: list[str] = []
        for field, named in zip(union.alternatives, names, strict=True):
            value = f"value.{named.accessor}()"
            held = checks.of(field.type, field.constraints, value)
            own = [_check(each, field.name, indent=6) for each in held]
            if own:
                statements += [f"    if (value.{named.test}()) {{", *own, "    }"]
        return ConstraintsView((*checks.programs, *statements), patterns=bool(checks.programs))

    def constraints(self, struct: Struct, members: tuple[str, ...]) -> ConstraintsView:
        """Has no statements if nothing is constrained."""
        if not self.facts.struct_constrained(struct):
            return ConstraintsView(())
        params = struct.kind is StructKind.PARAMS
        checks = Checks(self.facts, self._types.within(struct), members if params else ())
        statements: list[str] = []
        parameters: list[str] = []
        for field, member in zip(struct.fields, members, strict=True):
            variable = member if params else f"value.{member}"
            own = [_check(each, field.name) for each in checks.of(field.type, field.constraints, variable)]
            statements += own
            parameters.append(argument(f"const {self._types.spell(field.spelled)}&", member, bool(own)))
        return ConstraintsView(
            statements=(*checks.programs, *statements),
            parameters=fill("static std::optional<std::string> violation(", parameters, ") {", indent=2),
            forward=fill("return violation(", [f"value.{member}" for member in members], ");", indent=4),
            patterns=bool(checks.programs),
        )

    def result_constraints(self, field: Field) -> ConstraintsView:
        """The constraints of a single result."""
        return self._constraints_of(field, "the result")

    def element_constraints(self, stream: Stream) -> ConstraintsView:
        """The constraints of each element of a stream."""
        return self._constraints_of(stream, stream.name)

    def _constraints_of(self, alone: Field | Stream, name: str) -> ConstraintsView:
        checks = Checks(self.facts, self._types)
        statements = [_check(each, name) for each in checks.of(alone.type, alone.constraints, "value")]
        return ConstraintsView((*checks.programs, *statements), patterns=bool(checks.programs))


def _struct_declarations(qualified: str, in_rows: bool) -> tuple[str, ...]:
    """One call encodes many values: a loop around the fields costs less than a call for each value. The
    parameter is not a std::span, since instantiating one takes a compiler 20 ms in every file that includes
    it. Errors never occur in lists.
    """
    value = f"const {qualified}& value"
    size, write, read = _febird_declarations(qualified)
    bound = fill("static std::size_t bound(", [value], ") noexcept;", indent=2)
    if not in_rows:
        return size, bound, write, read
    many = ["Writer& writer", f"const {qualified}* values", "std::size_t count"]
    one = head("static void write(", ["Writer& writer", value], ") noexcept")
    return (
        size,
        bound,
        fill("static void write(", many, ") noexcept;", indent=2),
        block(one, ["write(writer, &value, 1);"]),
        read,
    )


def _febird_declarations(qualified: str) -> tuple[str, ...]:
    value = f"const {qualified}& value"
    return (
        fill("static std::size_t size(", [value], ") noexcept;", indent=2),
        fill("static void write(", ["Writer& writer", value], ") noexcept;", indent=2),
        fill("[[nodiscard]] static bool read(", ["Reader& reader", f"{qualified}& value"], ");", indent=2),
    )


def _check(expression: str, name: str, indent: int = 4) -> str:
    """One statement, broken as clang-format does it: between arguments, or inside the lambda."""
    margin = " " * indent
    start = f"{margin}if (auto violated = "
    line = f'{start}{expression}) return "{name}" + *violated;'
    if len(line) <= WIDTH:
        return line
    head = f"{start}{expression}) {{"
    if len(head) > WIDTH:
        broken = f"{margin}if (auto violated =\n{margin}        {expression}) {{"
        found = _LAMBDA.search(expression)
        if found is None:
            function, _, arguments = expression.removesuffix(")").partition("(")
            head = fill(f"{start}{function}(", arguments.split(", "), ")) {")
        elif len(broken.splitlines()[1]) <= WIDTH:
            head = broken
        else:
            body = expression[found.end() :].removesuffix(" })")
            head = f"{start}{expression[: found.end()].rstrip()}\n{margin}      {body}\n{margin}    }})) {{"
    return f'{head}\n{margin}  return "{name}" + *violated;\n{margin}}}'


def _last_returned(reads: list[str]) -> list[str]:
    if not reads:
        return ["return true;"]
    last = reads[-1].removeprefix("if (!").removesuffix(") return false;")
    return [*reads[:-1], f"return {last};"]


def _conjunction(checks: list[str]) -> str:
    return conjunction("return ", checks or ["true"], ";", indent=4).lstrip()


def _slot_function(
    name: str, pointer: tuple[str, str], value: str, placed: list[tuple[Field, str, int]]
) -> str:
    parameters = f"{argument(*pointer, bool(placed))}, {argument(value, 'value', bool(placed))}"
    moves = [f"codec::{name}({_at(pointer[1], offset)}, value.{member});" for _, member, offset in placed]
    return block(f"static void {name}({parameters}) noexcept", moves)


def _at(pointer: str, offset: int) -> str:
    return f"{pointer} + {offset}" if offset else pointer


def _boolean(value: bool) -> str:
    return "true" if value else "false"
