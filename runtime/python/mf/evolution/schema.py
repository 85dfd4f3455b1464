"""R0. A schema as its descriptor and annex describe it: methods, types, and of each field what a reader of
another schema needs to know.

`reading.py` makes it of the texts, and checks them first.
"""

from collections.abc import Mapping

from mf.evolution.types import Type, short
from mf.evolution.value import Value


class Field(Value):
    """Of a struct, parameters or results; also an alternative of a union. `number`: 0 where the descriptor
    has none. `default`: JSON, None where the schema says nothing."""

    name: str
    type: Type
    number: int = 0
    was: tuple[str, ...] = ()
    default: str | None = None


class Fields(Value):
    """The parameters or the results of a method."""

    tier: str
    fields: tuple[Field, ...] = ()


class Method(Value):
    """`results` is empty for one that is one-way. `replicated`: the pattern, or nothing."""

    name: str
    params: Fields
    results: Fields
    was: tuple[str, ...] = ()
    oneway: bool = False
    replicated: str = ""
    params_stream: Type | None = None
    results_stream: Type | None = None
    throws: tuple[str, ...] = ()


class Declared(Value):
    """A declared type. `kind`: struct, error, union, enum or flags. A struct, error or union has a tier and
    fields; an enum or flags a base and `members`, name to number or bit."""

    name: str
    kind: str
    tier: str = ""
    fields: tuple[Field, ...] = ()
    base: str = ""
    open: bool = False
    members: Mapping[str, int] | None = None

    @property
    def short(self) -> str:
        return short(self.name)

    @property
    def numbers(self) -> Mapping[str, int]:
        return self.members or {}


class Schema(Value):
    """`kind`: service, topic or value. `per`: name and type of the agent. `value`: the type of a topic's
    messages, or of a value. `fingerprint`: of the descriptor."""

    kind: str
    name: str
    per: tuple[str, Type] | None
    methods: Mapping[str, Method]
    value: Type | None
    types: Mapping[str, Declared]
    fingerprint: bytes

    @property
    def short(self) -> str:
        return short(self.name)
