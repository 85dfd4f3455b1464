"""Values of the vectors as tests/vectors/flex/make.py writes them, made into values of Python and back."""

import struct
import uuid
from typing import Any

import numpy as np

import mf
from mf.codec.flex.declared import Typed


def value_of(written: dict[str, Any]) -> Any:
    ((kind, content),) = written.items()
    match kind:
        case "none":
            return None
        case "int":
            return int(content)
        case "f64":
            return struct.unpack("<d", bytes.fromhex(content))[0]
        case "bytes":
            return bytes.fromhex(content)
        case "timestamp":
            return mf.Timestamp(int(content))
        case "uuid":
            return uuid.UUID(content)
        case "list":
            return [value_of(each) for each in content]
        case "map":
            return {value_of(key): value_of(value) for key, value in content}
        case "array":
            data = bytes.fromhex(content["data"])
            return np.frombuffer(data, content["dtype"]).reshape(content["shape"])
        case "declared":
            return Typed(
                content["type"], bytes.fromhex(content["fingerprint"]), bytes.fromhex(content["data"])
            )
    return content  # bool and text


def written(value: Any) -> dict[str, Any]:  # noqa: C901 - one case, one line
    if isinstance(value, np.ndarray):
        return {
            "array": {"dtype": value.dtype.name, "shape": list(value.shape), "data": value.tobytes().hex()}
        }
    if isinstance(value, Typed):
        content = {"type": value.name, "fingerprint": value.fingerprint.hex(), "data": value.data.hex()}
        return {"declared": content}
    match value:
        case None:
            return {"none": None}
        case bool():
            return {"bool": value}
        case mf.Timestamp():
            return {"timestamp": str(int(value))}
        case int():
            return {"int": str(value)}
        case float():
            return {"f64": struct.pack("<d", value).hex()}
        case str():
            return {"text": value}
        case bytes():
            return {"bytes": value.hex()}
        case uuid.UUID():
            return {"uuid": str(value)}
        case list():
            return {"list": [written(each) for each in value]}
        case dict():
            return {"map": [[written(key), written(each)] for key, each in value.items()]}
    raise TypeError(type(value))


def sorted_maps(value: Any) -> Any:
    """Entries of maps in one order, for comparisons."""
    if isinstance(value, dict):
        if "map" in value and isinstance(value["map"], list):
            return {"map": sorted((sorted_maps(each) for each in value["map"]), key=repr)}
        return {key: sorted_maps(each) for key, each in value.items()}
    return [sorted_maps(each) for each in value] if isinstance(value, list) else value
