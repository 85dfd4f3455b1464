"""F6. The heap memory of new values with their defaults, before anything is read into them: readers charge it
together with the elements that they make, so that few bytes cannot become much memory. An estimate.
"""

from mfidl.model import (
    ArrayOf,
    DeclKind,
    Field,
    ListOf,
    ListValue,
    MapOf,
    MapValue,
    Named,
    OptionalOf,
    Primitive,
    Program,
    Scalar,
    SetOf,
    Struct,
    StructValue,
    Type,
    Union,
    UnionValue,
    Value,
)

_BLOCK = 16  # of malloc
_NODE = 48  # of a tree node
_SHORT = 15  # letters that a std::string holds without the heap


class HeapOfNew:
    """Bytes for expanded types. Optionals start empty and charge for values made in them; unions count as
    their largest alternative.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[str, int] = {}

    def of(self, declared: Struct | Union) -> int:
        if declared.full_name not in self._known:
            self._known[declared.full_name] = 0  # what leads back to itself does so on the heap, made later
            self._known[declared.full_name] = self._of_members(declared)
        return self._known[declared.full_name]

    def _of_members(self, declared: Struct | Union) -> int:
        if isinstance(declared, Union):
            return max((self._new(each.type) for each in declared.alternatives), default=0)
        return sum(map(self._field, declared.fields))

    def _field(self, field: Field) -> int:
        return self._new(field.type) if field.default is None else self._value(field.default, field.type)

    def _new(self, type_: Type) -> int:
        match type_:
            case ArrayOf():
                return type_.length * self._new(type_.element)
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
                return self.of(self._program.struct(type_))
            case Named(kind=DeclKind.UNION):
                return self.of(self._program.union(type_))
            case _:
                return 0

    def _value(self, value: Value, type_: Type) -> int:
        match value, type_:
            case _, OptionalOf():
                return self._value(value, type_.element)
            case str(), _:
                size = len(value.encode())
                return size + _BLOCK if size > _SHORT else 0
            case bytes(), _:
                return len(value) + _BLOCK
            case ListValue(), ArrayOf():
                return sum(self._value(each, type_.element) for each in value.elements)
            case ListValue(), ListOf(element):
                held = sum(self._size(element) + self._value(each, element) for each in value.elements)
                return held + _BLOCK if value.elements else 0
            case ListValue(), SetOf(element):
                return sum(
                    _NODE + self._size(element) + self._value(each, element) for each in value.elements
                )
            case MapValue(), MapOf(key, mapped):
                node = _NODE + self._size(key) + self._size(mapped)
                return sum(node + self._value(k, key) + self._value(v, mapped) for k, v in value.entries)
            case StructValue(), Named():
                return self._struct(value, self._program.struct(type_))
            case UnionValue(), Named():
                return self.of(self._program.union(type_)) + self._alternative(value, type_)
            case _:
                return 0

    def _struct(self, value: StructValue, struct: Struct) -> int:
        given = dict(value.fields)
        return sum(
            self._value(given[each.name], each.type) if each.name in given else self._field(each)
            for each in struct.fields
        )

    def _alternative(self, value: UnionValue, type_: Named) -> int:
        alternatives = self._program.union(type_).alternatives
        return sum(
            self._value(value.value, each.type) for each in alternatives if each.name == value.alternative
        )

    def _size(self, type_: Type) -> int:
        """Of a value itself, about."""
        match type_:
            case Primitive(scalar=Scalar.STRING):
                return 32
            case ListOf() | Primitive(scalar=Scalar.BYTES):
                return 24
            case SetOf() | MapOf():
                return 48
            case ArrayOf():
                return type_.length * self._size(type_.element)
            case OptionalOf():
                return 32  # of a struct it may be the struct that is asked about
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
                return 24 + sum(self._size(each.type) for each in self._program.struct(type_).fields)
            case _:
                return 16
