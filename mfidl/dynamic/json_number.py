"""F6. Scalars where they stand in JSON text: numbers, moments, enums, flags, and what is a string."""

from collections.abc import Callable, Iterable

from mf.codec.fault import Fault
from mfidl import model
from mfidl.diagnostics import did_you_mean
from mfidl.dynamic.json_scalar import (
    WrongError,
    bool_of,
    float_in,
    in_range,
    is_number,
    moment_of,
    scalar_of,
    short,
    whole_of,
)
from mfidl.dynamic.json_walk import JsonWalk
from mfidl.dynamic.number import Number
from mfidl.dynamic.value import Value
from mfidl.model import Scalar

_TEXT = 64  # what a string or bytes take beside their bytes, roughly


class ScalarReader(JsonWalk):
    def _number(self, number: Number) -> Value:
        if number.is_bool:
            self._kind(number.type, "bool")
            return self._json.word()
        if isinstance(number.type, model.Named) and number.type.kind is model.DeclKind.FLAGS:
            kind, _ = self._kind(number.type, "array", "string", "number")
            if kind == "array":
                return self._flags(number.type, number)
        if number.scalar in (Scalar.TIMESTAMP, Scalar.DURATION):
            return self._text(number.type, lambda text: self._of_text(number, text))
        kind, start = self._kind(number.type, "number", "string")
        text = self._json.number() if kind == "number" else self._json.string()
        return self._at(start, lambda: self._of_text(number, text, quoted=kind == "string"))

    def _of_text(self, number: Number, text: str, *, quoted: bool = True) -> Value:
        """A number, moment, duration or member of an enum from its text."""
        if number.is_float:
            return float_in(number, text, quoted)
        if number.scalar is Scalar.DURATION or (number.scalar is Scalar.TIMESTAMP and not is_number(text)):
            return moment_of(number, text)
        if number.is_bool:
            return bool_of(text)
        if quoted and number.is_declared and not is_number(text):
            assert isinstance(number.type, model.Named)
            return self._member(number.type, text)
        value = in_range(number, whole_of(text), text)
        if number.members is not None and value not in number.members:
            raise WrongError(Fault.UNKNOWN_ENUM_VALUE, f"{value} is no member of {model.spell(number.type)}")
        return value

    def _member(self, type_: model.Named, name: str) -> int:
        if type_.kind is model.DeclKind.FLAGS:
            raise WrongError(Fault.JSON_WRONG_TYPE, f"{short(name)} is no number; names stand in an array")
        members = self._schema.program.enum(type_).members
        for each in members:
            if each.name == name:
                return each.number
        raise WrongError(
            Fault.UNKNOWN_ENUM_VALUE,
            unknown(f"{type_.name} has no member `{short(name)}`", name, (each.name for each in members)),
        )

    def _flags(self, type_: model.Named, number: Number) -> int:
        flags = self._schema.program.flags(type_)
        bits = {each.name: 1 << each.bit for each in flags.members}
        total = 0

        def element(_: int) -> None:
            nonlocal total
            kind, start = self._kind(type_, "string", "number")
            text = self._json.number() if kind == "number" else self._json.string()

            def found() -> int:
                if kind == "string" and not is_number(text):
                    if text not in bits:
                        problem = f"{type_.name} has no bit `{short(text)}`"
                        raise WrongError(Fault.UNKNOWN_ENUM_VALUE, unknown(problem, text, bits))
                    return bits[text]
                return in_range(number, whole_of(text), text)

            value = self._at(start, found)
            if total & value:
                raise self._json.fail(Fault.JSON_DUPLICATE_KEY, "a bit is there twice", start)
            total |= value

        self._elements(element, None, type_)
        return total

    def _key(self, type_: model.Type, text: str) -> Value:
        number = self._schema.number(type_)
        if number is not None:
            return self._of_text(number, text)
        assert isinstance(type_, model.Primitive)
        return self._paid(scalar_of(type_.scalar, text))

    def _text(self, type_: model.Type, make: Callable[[str], Value]) -> Value:
        _, start = self._kind(type_, "string")
        text = self._json.string()
        return self._paid(self._at(start, lambda: make(text)))

    def _paid(self, value: Value) -> Value:
        if isinstance(value, str | bytes):
            self._charge(_TEXT + len(value))
        return value


def unknown(problem: str, name: str, known: Iterable[str]) -> str:
    hint = did_you_mean(name, known)
    return f"{problem}; {hint}" if hint else problem
