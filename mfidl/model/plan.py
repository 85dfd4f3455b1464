"""F3. What the planner decides about a struct or union, as data. The rules are in `mfidl.plan`."""

from dataclasses import dataclass
from enum import Enum


class Tier(Enum):
    """How a struct or union is serialized, fastest first."""

    CUSTOM = "custom"
    MEMCPY = "memcpy"
    FEBIRD = "febird"
    ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class FieldSlot:
    """The place of one field of a memcpy struct."""

    name: str
    offset: int
    size: int
    align: int


@dataclass(frozen=True, slots=True)
class Padding:
    """A run of bytes that belongs to no field: always zero on the wire."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The little-endian memory image of a memcpy struct, the same on every ABI.

    Slots and padding together cover [0, size) exactly once. An empty struct has size 0 and alignment 1.
    """

    size: int
    align: int
    slots: tuple[FieldSlot, ...]
    padding: tuple[Padding, ...]


@dataclass(frozen=True, slots=True)
class StructPlan:
    """Of a struct or union. `reason` is a clause that completes "this struct is febird because ...". `layout`
    is there for memcpy only.
    """

    tier: Tier
    reason: str
    layout: Layout | None


UNPLANNED = StructPlan(Tier.FEBIRD, "it has not been planned", None)
