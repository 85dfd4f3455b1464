"""The example of `explain` as a value of the dynamic codecs: what the page shows before anything is typed."""

from mfidl import model
from mfidl.dynamic.value import Value
from mfidl.explain.example import Examples
from mfidl.explain.values import (
    Alternative,
    Entries,
    Example,
    Fields,
    Foreign,
    Items,
    Repeated,
    UnmeasuredError,
)


def example_value(program: model.Program, type_: model.Type) -> Value:
    """Raises UnmeasuredError where there is no example: values of codecs of users, and some constraints."""
    return _value(Examples(program).of_type(type_))


def _value(example: Example) -> Value:
    match example:
        case Fields(fields):
            return {name: _value(each) for name, each in fields}
        case Alternative(name, _, held):
            return {name: _value(held)}
        case Repeated(element, count):
            return [_value(element)] * count
        case Items(elements):
            return [_value(each) for each in elements]
        case Entries(entries):
            return {_value(key): _value(held) for key, held in entries}
        case model.EnumValue(number=number):
            return number
        case model.FlagsValue(bits=bits):
            return bits
        case Foreign(name):
            raise UnmeasuredError(f"`{name}` has a codec of its own")
        case _:
            return example
