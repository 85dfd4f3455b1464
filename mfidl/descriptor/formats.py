"""F6. A descriptor as bytes, as JSON and as protobuf text; each the same for the same program."""

from google.protobuf import json_format, text_format

from mfidl.descriptor import descriptor_pb2 as pb

FORMATS = ("binary", "json", "text")


def formatted(message: pb.Program, form: str) -> bytes:
    """`form` is one of FORMATS. JSON has the field names of descriptor.proto, 64-bit numbers as strings, and
    zeros written out: a type may well be number 0.
    """
    if form == "json":
        text = json_format.MessageToJson(
            message,
            preserving_proto_field_name=True,
            always_print_fields_with_no_presence=True,
            ensure_ascii=False,
        )
        return text.encode() + b"\n"
    if form == "text":
        return text_format.MessageToString(message, as_utf8=True).encode()
    return message.SerializeToString(deterministic=True)
