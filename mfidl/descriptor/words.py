"""F6. The enums of descriptor.proto as those of the model (they have the same words), and 64-bit numbers."""

from mfidl import model
from mfidl.descriptor import descriptor_pb2 as pb

MODEL_SCALARS: dict[int, model.Scalar] = {pb.Scalar.Value(each.name): each for each in model.Scalar}
MODEL_CODINGS: dict[int, model.Coding] = {pb.Coding.Value(each.name): each for each in model.Coding}
MODEL_TIERS: dict[int, model.Tier] = {pb.Tier.Value(each.name): each for each in model.Tier}
MODEL_STRUCT_KINDS: dict[int, model.StructKind] = {
    pb.Struct.Kind.Value(each.name): each for each in model.StructKind
}
MODEL_DECL_KINDS: dict[int, model.DeclKind] = {
    pb.Named.Kind.Value(each.name): each for each in model.DeclKind
}


def to_int64(number: int) -> int:
    """The same 64 bits as a signed number."""
    return number - (1 << 64) if number >= 1 << 63 else number


def from_int64(number: int, unsigned: bool) -> int:
    return number + (1 << 64) if unsigned and number < 0 else number
