"""Schemas from a seed: a module and one that it imports, drawn from the whole language (docs/language.md).

    schema = RandomSchema(seed)     .files: text by path; .main: the path of the module that imports

What is drawn is meant to be accepted by `mfidlc check`, whatever it is called: names are words that a
generator of code could stumble over. The same seed gives the same texts.
"""

import random
from dataclasses import dataclass

from mfidl.semantics.annotations import KNOWN
from tests.random_schemas.drawing import MOST, Drawing
from tests.random_schemas.kinds import (
    NO_RULE,
    Declared,
    Member,
    Name,
    Optional,
    Scalar,
    Sequence,
    Spelling,
    Type,
    is_fixed,
    is_optional,
    least,
)
from tests.random_schemas.names import WORDS, Names
from tests.random_schemas.scalars import ALL, INTEGERS

BUILT_IN = {*ALL, "list", "array", "set", "map", "ref", "stream"}
KINDS = (
    *("struct",) * 9,
    *("union",) * 3,
    *("enum", "open enum", "flags", "type", "type"),
)
PATTERNS = ("no_versioning", "version_request", "one_hop", "one_hop_ack_client", "wait_for_version")


@dataclass(frozen=True)
class Size:
    declarations: int
    members: int
    methods: int


SMALL = Size(declarations=5, members=5, methods=1)
MODERATE = Size(declarations=12, members=6, methods=3)


class RandomSchema:
    def __init__(self, seed: int, size: Size = MODERATE) -> None:
        dice = random.Random(f"schema/{seed}")
        self.seed = seed
        other = _Module(dice, f"s{seed}.{dice.choice(WORDS).strip('_') or 'x'}", "", size, None)
        own = f"s{seed}x.{dice.choice(('main', 'class', 'types', 'import', 'std', 'a.b'))}"
        self.main = "main.mfidl"
        import_as = dice.choice(("", "", "words", "import", "std", "u8_"))
        main = _Module(dice, own, import_as, size, other)
        self.files = {"parts/other.mfidl": other.text(), self.main: main.text()}


class _Module(Drawing):
    def __init__(
        self, dice: random.Random, name: str, import_as: str, size: Size, other: "_Module | None"
    ) -> None:
        self.name = name
        self._size = size
        prefixes = {}
        self._import = ""
        imported = other.declared if other else []
        if other:
            self._import = f'import "parts/other.mfidl"{f" as {import_as}" * bool(import_as)};'
            full = other.name
            prefixes[full] = [import_as] if import_as else [full, full.rpartition(".")[2]]
        super().__init__(dice, Spelling(name, prefixes, dice), other.beside if other else [])
        excluded = BUILT_IN | {prefix for some in prefixes.values() for prefix in some}
        self._names = Names(dice, excluded | {"true", "false", "inf", "nan"})
        self._before = list(imported)  # what may be held directly
        self._blocks: list[str] = []
        for _ in range(dice.choice((0, 1, 2))):
            self._annotation()
        if other and self._chance(0.3):
            self._existing()
        self.declared: list[Declared] = [self._planned(len(imported) + at) for at in range(size.declarations)]
        for each in self.declared[1:]:
            self._put_within(each)
        # The type of an alias must be known where it is used.
        self._all = [*imported, *(each for each in self.declared if each.kind != "type")]
        self._behind = len(imported) + size.declarations
        bodies: dict[Declared, str] = {}
        for each in self.declared:
            bodies[each] = self._body(each)
            self._before.append(each)
            if each.kind == "type":
                self._all.append(each)
            if dice.random() < 0.25:
                self._constant(each)
        self._blocks += [_whole(each, bodies) for each in self.declared if each.holder is None]
        self._blocks += [self._custom()] if dice.random() < 0.3 else []
        for _ in range(2):
            self._error()
        self._blocks += self._services()

    def text(self) -> str:
        head = [f"/// Made from a seed.\nmodule {self.name};"] + [self._import] * bool(self._import)
        blocks = list(self._blocks)
        self._dice.shuffle(blocks)
        return "\n\n".join([*head, *blocks]) + "\n"

    # Declarations -------------------------------------------------------------------------------------------

    def _planned(self, index: int) -> Declared:
        kind = self._dice.choice(KINDS)
        tier = ""
        if kind == "struct":
            tier = self._dice.choice(("", "", "memcpy", "febird", "archive", "archive", "archive"))
        elif kind == "union":
            tier = self._dice.choice(("", "febird", "archive", "archive"))
        return Declared(self._names.take(), kind, index, self.name, tier)

    def _put_within(self, of: Declared) -> None:
        """Maybe declares it within an earlier one, which may itself stand within another."""
        earlier = (each for each in self.declared if each.index < of.index)
        holders = [each for each in earlier if each.kind in ("struct", "union")]
        if holders and self._chance(0.3):
            of.holder = self._dice.choice(holders)
            of.holder.inner.append(of)

    def _body(self, of: Declared) -> str:
        match of.kind:
            case "enum" | "open enum":
                return self._enum(of)
            case "flags":
                return self._flags(of)
            case "type":
                return self._alias(of)
            case "union":
                return self._union(of)
            case _:
                return self._struct(of)

    def _head(self, deprecated: float = 0.05) -> str:
        doc = self._dice.choice(
            ("", "", "/// What it is.\n", "/// A \\ */ doc, with `code` % {braces}.\n/// Two lines?\n")
        )
        old = (
            self._dice.choice(('@deprecated("use \\"other\\"") ', "@deprecated "))
            if self._chance(deprecated)
            else ""
        )
        return doc + old + self._own_annotation()

    def _annotation(self) -> None:
        """One that the schema declares for itself. Its fields are of built-in types."""
        name = self._names.take()
        while name in KNOWN:
            name = self._names.take()
        of, names = Declared(name, "annotation", -1, self.name), Names(self._dice)
        for _ in range(self._dice.randint(0, 3)):
            type_: Type = Scalar(self._dice.choice(ALL))
            type_ = self._dice.choice((type_, Optional(type_), Sequence("list", type_)))
            rule = self._rule(type_)
            default = self._value(type_, rule, 0) if self._chance(0.4) else None
            of.members.append(Member(names.take(), type_, rule, default))
        self._blocks.append(f"annotation {of.name} {{\n{self._members(of, names, False)}}}")
        self.beside.append(of)

    def _own_annotation(self) -> str:
        known = [each for each in self.beside if each.kind == "annotation"]
        if not known or not self._chance(0.1):
            return ""
        of = self._dice.choice(known)
        given = []
        for each in of.members:
            may_lack = each.default is not None or is_optional(each.type)
            value = None if may_lack and self._chance(0.5) else self._value(each.type, each.rule, 0)
            if value is not None:
                given.append(f"{each.name} = {value}")
            elif not may_lack:
                return ""
        self._dice.shuffle(given)
        return f"@{self._spelling.name(of)}({', '.join(given)}) " if given else f"@{self._spelling.name(of)} "

    def _renamed(self, names: Names) -> str:
        if not self._chance(0.04):
            return ""
        return f'@{self._dice.choice(("cpp", "python"))}.name("given_{names.take()}x") '.replace("__", "_u")

    def _enum(self, of: Declared) -> str:
        of.base, of.fixed = self._dice.choice(INTEGERS), True
        bits = int(of.base[1:])
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if of.base[0] == "i" else (0, (1 << bits) - 1)
        names = Names(self._dice)
        count = self._dice.randint(0 if of.kind == "open enum" else 1, 6)
        near = [
            each
            for each in (0, 1, 2, 3, 5, 63, 127, -1, -2, low, high, 1 << 31, 1 << 32)
            if low <= each <= high
        ]
        numbers = self._dice.sample(sorted(set(near)), min(count, len(set(near))))
        of.members = [Member(names.take(), number=number) for number in numbers]
        lines = [f"  {self._head()}{each.name} = {each.number}" for each in of.members]
        body = ",\n".join(lines) + "," * bool(lines)
        return f"{self._head()}{of.kind} {of.name}: {of.base} {{\n{body}\n}}"

    def _flags(self, of: Declared) -> str:
        of.base, of.fixed = self._dice.choice(INTEGERS[4:]), True
        bits = int(of.base[1:])
        names = Names(self._dice)
        of.members = [Member(names.take()) for _ in range(self._dice.randint(1, 6))]
        if self._chance(0.5):
            body = ", ".join(each.name for each in of.members)
        else:
            chosen = self._dice.sample(range(bits), len(of.members))
            body = ", ".join(f"{each.name} = {bit}" for each, bit in zip(of.members, chosen, strict=True))
        return f"{self._head()}flags {of.name}: {of.base} {{ {body} }}"

    def _alias(self, of: Declared) -> str:
        of.type = self._type(self._before, self._before, archive=False)
        of.rule = self._rule(of.type)
        of.fixed, of.least = is_fixed(of.type), least(of.type)
        return f"{self._head()}type {of.name} = {self._spelling.type(of.type)} {of.rule.text};"

    def _struct(self, of: Declared) -> str:
        names = Names(self._dice, {each.name for each in of.inner})
        fixed_only = of.tier == "memcpy" or (of.tier == "" and self._chance(0.4))
        count = self._dice.randint(0 if self._chance(0.1) else 1, self._size.members)
        for _ in range(count):
            self._member(of, names.take(), fixed_only)
        numbered = of.is_archive or self._chance(0.15)
        of.fixed = of.tier in ("", "memcpy") and all(is_fixed(each.type) for each in of.members)
        of.least = max(1, sum(least(each.type) for each in of.members))
        return f"{self._head()}{self._tier(of)}struct {of.name} {{\n{self._members(of, names, numbered)}}}"

    def _union(self, of: Declared) -> str:
        names = Names(self._dice, {each.name for each in of.inner})
        while not of.members or (len(of.members) < self._size.members and self._chance(0.8)):
            self._member(of, names.take(), False)
        of.least = 1 + max(least(each.type) for each in of.members)
        numbered = of.is_archive or self._chance(0.5)
        return f"{self._head()}{self._tier(of)}union {of.name} {{\n{self._members(of, names, numbered)}}}"

    def _tier(self, of: Declared) -> str:
        return f"@tier({of.tier}) " if of.tier else ""

    def _member(self, of: Declared, name: str, fixed_only: bool) -> None:
        room = MOST - sum(least(each.type) for each in of.members)
        direct = [each for each in self._before if each.least <= room]
        is_union = of.kind == "union"
        while True:
            if fixed_only:
                type_ = self._fixed([each for each in direct if each.fixed])
            else:
                type_ = self._type(direct, self._all, of.is_archive)
            if not (is_union and is_optional(type_)):
                break
        rule = self._rule(type_)
        default = None
        if of.kind != "union" and self._chance(0.35):
            default = self._value(type_, rule, of.index)
        of.members.append(Member(name, type_, rule, default))

    def _members(self, of: Declared, names: Names, numbered: bool) -> str:
        if numbered:
            pool = [*range(1, 40), 127, 128, 2047, 2048, 18999, 20000, (1 << 29) - 1]
            chosen = self._dice.sample(pool, len(of.members))
            chosen = chosen if self._chance(0.5) else sorted(chosen)
            for each, number in zip(of.members, chosen, strict=True):
                each.number = number
        lines = [f"{self._written(each, names)};" for each in of.members]
        if self._chance(0.15):
            lines.append(f'reserved "gone_{names.take()}";')
        if numbered and self._chance(0.15):
            lines.append("reserved 50..59, 61;")
        inner = [_place(each) for each in of.inner]
        at = self._dice.randint(0, len(lines))
        return "".join(f"  {line}\n" for line in [*lines[:at], *inner, *lines[at:]])

    def _written(self, member: Member, names: Names) -> str:
        number = "" if member.number is None else f"{member.number}: "
        was = f'@was("was_{names.take()}") ' if self._chance(0.05) else ""
        before = f"{self._head()}{was}{self._renamed(names)}{number}"
        text = f"{before}{member.name}: {self._spelling.type(member.type)}"
        rule = f" {member.rule.text}" if member.rule.text else ""
        default = "" if member.default is None else f" = {member.default}"
        return text + (rule + default if self._chance(0.5) else default + rule)

    def _error(self) -> None:
        of = Declared(self._names.take(), "error", self._behind, self.name)
        names = Names(self._dice)
        for _ in range(self._dice.randint(0, 3)):
            self._member(of, names.take(), False)
        self._blocks.append(f"{self._head()}error {of.name} {{\n{self._members(of, names, False)}}}")
        self.beside.append(of)

    def _constant(self, near: Declared) -> None:
        choices: list[Type] = [Scalar(self._dice.choice(ALL))]
        if near.kind != "flags" or near.members:
            choices += [Name(near), Sequence("list", Name(near))]
        type_ = self._dice.choice(choices)
        value = self._value(type_, NO_RULE, near.index + 1)
        if value is not None:
            of = Declared(self._names.take(), "const", near.index + 1, self.name, base=value, type=type_)
            self.beside.append(of)
            self._blocks.append(f"{self._head()}const {of.name}: {self._spelling.type(type_)} = {value};")

    def _existing(self) -> None:
        """A C++ type that was there before."""
        fields = [Member(name, Scalar("f32")) for name in "xyz"]
        of = Declared(self._names.take(), "struct", -1, self.name, "memcpy", fields, fixed=True, least=3)
        self._before.append(of)
        named = '@cpp.type("custom_codec.hpp", "custom_codec::Vec3") @tier(memcpy)'
        self._blocks.append(f"{named} struct {of.name} {{ x: f32; y: f32; z: f32; }}")

    def _custom(self) -> str:
        of = Declared(self._names.take(), "custom", self._behind, self.name, "custom")
        self._all.append(of)
        self._before.append(of)
        holder = Declared(
            self._names.take(), "struct", self._behind, self.name, self._dice.choice(("", "febird"))
        )
        holder.members = [
            Member("blob", Name(of)),
            Member("blobs", Sequence("list", Name(of))),
            Member("maybe", Optional(Name(of))),
        ]
        blob = "Blob" if self._import else "OtherBlob"
        codecs = (
            f'@cpp.codec("custom_codec.hpp", "custom_codec::{blob}", "custom_codec::Codec") '
            '@python.codec("tests.random_schemas.custom_codec:Codec")'
        )
        names = Names(self._dice)
        numbered = self._chance(0.5)
        if numbered:
            holder.tier = "archive"
        body = self._members(holder, names, numbered)
        custom = f"@tier(custom) {codecs}\nstruct {of.name};\n"
        return f"{custom}{self._tier(holder)}struct {holder.name} {{\n{body}}}"

    # Services -----------------------------------------------------------------------------------------------

    def _services(self) -> list[str]:
        made = []
        if self._chance(0.5):
            keys = [each for each in self.declared if each.kind in ("enum", "open enum")]
            words_ = ["string", "u32", "i64", "uuid", *(each.path for each in keys)]
            agent = Declared(self._names.take(), "agent", 0, self.name)
            made.append(f"agent {agent.name}: {self._dice.choice(words_)};")
            self.beside.append(agent)
        agents = [each for each in self.beside if each.kind == "agent"]
        for _ in range(self._dice.choice((0, 1, 1, 2))):
            of = Declared(self._names.take(), "service", self._behind, self.name)
            bases = [each for each in self.beside if each.kind == "service"]
            base = self._dice.choice(bases) if bases and self._chance(0.5) else None
            of.members = list(base.members) if base else []
            names = Names(self._dice, {each.name for each in of.members})
            methods = "".join(
                f"  {self._method(names, of)}\n" for _ in range(self._dice.randint(0, self._size.methods))
            )
            divided = agents and not base and self._chance(0.6)
            per = f" per {self._spelling.name(self._dice.choice(agents))}" if divided else ""
            extends = f" extends {self._spelling.name(base)}" if base else ""
            made.append(f"{self._head()}service {of.name}{extends}{per} {{\n{methods}}}")
            self.beside.append(of)
        carried = [each for each in self.declared if each.kind in ("struct", "union")]
        if carried and self._chance(0.1):
            made.append(f"topic {self._names.take()}: {self._dice.choice(carried).path};")
        return made

    def _method(self, names: Names, of: Declared) -> str:
        name = names.take()
        of.members.append(Member(name))
        params, results = self._parts("params", 5), self._parts("results", 3)
        errors = [each for each in self.beside if each.kind == "error"]
        thrown = self._dice.sample(errors, self._dice.randint(0, 2))
        throws = f" throws {', '.join(map(self._spelling.name, thrown))}" if thrown else ""
        head = self._head()
        if self._chance(0.15):
            return f"{head}@oneway {name}({params});"
        if self._chance(0.05):
            return f"{head}{name}({params}) -> stream<{self._spelling.type(Scalar('u32'))}>{throws};"
        head += self._dice.choice(
            ("", "", "@idempotent ", "@deadline(200ms) ", "@batch(max = 7) ", "@idempotent @deadline(1min) ")
        )
        if not results:
            return f"{head}{name}({params}){throws};"
        if self._chance(0.5):
            results = self._parts("results", 1, named=False)
            return f"{head}{name}({params}) -> {results}{throws};"
        if self._chance(0.05):
            head += f"@replicated(pattern = {self._dice.choice(PATTERNS)}) "
        elif self._chance(0.1):
            head += "@cached(entries = 10_000, ttl = 1h) "
        return f"{head}{name}({params}) -> ({results}){throws};"

    def _parts(self, kind: str, most: int, named: bool = True) -> str:
        of = Declared(kind, kind, self._behind, self.name)
        names = Names(self._dice)
        for _ in range(self._dice.randint(0 if named else 1, most)):
            self._member(of, names.take(), self._chance(0.3))
        if kind == "results":
            for each in of.members:
                each.default = None
        if not named:
            only = of.members[0]
            return f"{self._spelling.type(only.type)} {only.rule.text}"
        if self._chance(0.15):
            for number, each in enumerate(of.members, self._dice.randint(1, 9)):
                each.number = number
        return ", ".join(self._written(each, names) for each in of.members)


def _place(of: Declared) -> str:
    """Where in the body of what holds it its own is put, once that is made."""
    return f"\0{of.index}\0"


def _whole(of: Declared, bodies: dict[Declared, str]) -> str:
    text = bodies[of]
    for each in of.inner:
        text = text.replace(_place(each), _whole(each, bodies))
    return text
