"""F6. Tier custom: only the user's codec reads the bytes, so they stay bytes."""

from mfidl import model
from mfidl.dynamic.decoding import Decoding
from mfidl.dynamic.encoding import Encoding
from mfidl.dynamic.value import Value


def read(at: Decoding, type_: model.Named) -> Value:
    return at.blob(at.end - at.pos, type_)


def write(to: Encoding, type_: model.Named, value: Value) -> None:
    to.data += to.blob(value, type_)
