"""F6. Views of codecs and constraints of a struct or union."""

from mfidl.emit.cpp.archive import Archives
from mfidl.emit.cpp.constraints import Checks
from mfidl.emit.cpp.facts import Facts
from mfidl.emit.cpp.heap import HeapOfNew
from mfidl.emit.cpp.literals import Literals
from mfidl.emit.cpp.names import AlternativeNames, Names
from mfidl.emit.cpp.types import CppTypes
from mfidl.emit.cpp.view import (
    ArchiveView,
    Check,
    CodecView,
    ConstraintsView,
    CustomView,
    FebirdView,
    Gap,
    MemcpyView,
    Slot,
)
from mfidl.model import Field, Program, Stream, Struct, StructKind, Tier, Union


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

    def codec(self, struct: Struct, members: tuple[str, ...]) -> CodecView:
        if struct.tier is Tier.ARCHIVE:
            return self._archives(struct).struct(struct, members)
        if struct.cpp_codec is not None:
            return CustomView(
                struct.cpp_codec.codec.removeprefix("::"), struct.cpp_codec.type.removeprefix("::")
            )
        if struct.layout is not None:
            return self._memcpy(struct, members)
        return FebirdView(self.facts.struct_min_size(struct))

    def union_codec(self, union: Union, names: tuple[AlternativeNames, ...]) -> FebirdView | ArchiveView:
        if union.tier is Tier.ARCHIVE:
            return self._archives(union).union(union, names)
        return FebirdView(self.facts.union_min_size(union))

    def _archives(self, declared: Struct | Union) -> Archives:
        return Archives(self._program, self._types.within(declared), self._literals.within(declared))

    def _memcpy(self, struct: Struct, members: tuple[str, ...]) -> MemcpyView:
        assert struct.layout is not None
        layout, facts = struct.layout, self.facts
        placed = [
            (field, Slot(member, field.name, self._types.spell(field.type), slot.offset, _at(slot.offset)))
            for field, member, slot in zip(struct.fields, members, layout.slots, strict=True)
        ]
        checked = tuple(slot for field, slot in placed if not facts.all_bits_valid(field.type))
        return MemcpyView(
            size=layout.size,
            align=layout.align,
            image=facts.struct_is_image(struct),
            has_padding=facts.struct_has_padding(struct),
            slots=tuple(slot for _, slot in placed),
            checked=checked,
            limited=tuple(dict.fromkeys(slot.type for slot in checked)),
            padded=tuple(slot for field, slot in placed if facts.has_padding(field.type)),
            gaps=tuple(Gap(_at(each.offset), each.size) for each in layout.padding),
        )

    def union_constraints(self, union: Union, names: tuple[AlternativeNames, ...]) -> ConstraintsView:
        if not self.facts.union_constrained(union):
            return ConstraintsView()
        checks = Checks(self.facts, self._types.within(union))
        found = [
            Check(each, field.name, named.test)
            for field, named in zip(union.alternatives, names, strict=True)
            for each in checks.of(field.type, field.constraints, f"value.{named.accessor}()")
        ]
        return ConstraintsView(tuple(checks.patterns), tuple(found))

    def constraints(self, struct: Struct, members: tuple[str, ...]) -> ConstraintsView:
        """Has no checks if nothing is constrained. Those of parameters belong to a function that takes them
        one by one.
        """
        if not self.facts.struct_constrained(struct):
            return ConstraintsView()
        params = struct.kind is StructKind.PARAMS
        checks = Checks(self.facts, self._types.within(struct), members if params else ())
        found: list[Check] = []
        parameters: list[str] = []
        for field, member in zip(struct.fields, members, strict=True):
            variable = member if params else f"value.{member}"
            own = [Check(each, field.name) for each in checks.of(field.type, field.constraints, variable)]
            found += own
            name = member if own else f"/*{member}*/"
            parameters.append(f"const {self._types.spell(field.spelled)}& {name}")
        return ConstraintsView(
            tuple(checks.patterns),
            tuple(found),
            parameters=", ".join(parameters) if params else "",
            forwarded=", ".join(f"value.{member}" for member in members),
        )

    def result_constraints(self, field: Field) -> ConstraintsView:
        """The constraints of a single result."""
        return self._constraints_of(field, "the result")

    def element_constraints(self, stream: Stream) -> ConstraintsView:
        """The constraints of each element of a stream."""
        return self._constraints_of(stream, stream.name)

    def _constraints_of(self, alone: Field | Stream, name: str) -> ConstraintsView:
        checks = Checks(self.facts, self._types)
        found = tuple(Check(each, name) for each in checks.of(alone.type, alone.constraints, "value"))
        return ConstraintsView(tuple(checks.patterns), found)


def _at(offset: int) -> str:
    return f" + {offset}" if offset else ""
