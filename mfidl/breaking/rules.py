"""F6. The rules: a code, its impacts, and its texts, which `help` and the documentation use.

Impacts: WIRE, bytes of one program mean something else, or nothing, to the other. LAYOUT, offsets or sizes in
memory differ, which breaks stored images and views, too. SOURCE, code written for the generated stubs does
not compile, or run, any more. BEHAVIOUR, it compiles and decodes, but acts differently. ROLLOUT, running
peers of the two programs do not understand each other in every order of upgrades.
"""

from enum import Enum

from mfidl.diagnostics import Code


class Impact(Enum):
    WIRE = "wire"
    LAYOUT = "layout"
    SOURCE = "source"
    BEHAVIOUR = "behaviour"
    ROLLOUT = "rollout"


_ROWS = (
    # Declarations
    ("B0101", "module removed", "Code that includes or imports it is left without. Keep the module, with its declarations deprecated, for a release."),
    ("B0102", "declaration removed", "Generated code has the name no more. Mark it @deprecated first, and remove it when it is not used any more. Calls do not depend on the names of types, but files of values and flexible messages do: older ones of a type that was renamed or moved are read with `was`, its full name before."),
    ("B0103", "declaration became another kind", "A struct, an enum and a union are encoded differently, and generated differently. Declare a new name instead."),
    ("B0104", "constant changed", "Programs that were built with the old value go on using it. Two peers may now disagree."),
    ("B0105", "name in a target language changed", "@cpp.name, @python.name and @cpp.type decide what the user's code has to write."),
    # Fields
    ("B0201", "field added", "memcpy and febird bytes have no tags: every field moves. In an archive struct it is safe if it is optional or has a default, and its number was never used."),
    ("B0202", "field removed", "memcpy and febird bytes have no tags. In an archive struct it is safe on the wire if number and name are reserved; source that uses it breaks in any case."),
    ("B0203", "fields in another order", "memcpy and febird encode fields in the order of the declaration. In an archive struct the order is free."),
    ("B0204", "field renamed", "The identity is kept by its number or by @was; source that uses the old name breaks."),
    ("B0205", "field of another type", "febird and archive allow widening within the same signedness (u16 to u32 to u64, i16 to i32 to i64); archive also string to bytes. All else changes the bytes."),
    ("B0206", "field of another number", "The number is the identity of a field in archive bytes. Add a new field and reserve the old number."),
    ("B0207", "default changed", "A value without the field has another value for it; in archive bytes an absent field now means something else."),
    ("B0208", "constraint tightened", "Values that the older side may send are refused by the newer one."),
    ("B0209", "reservation dropped", "A reserved number or name is reserved because old bytes hold it. It must stay reserved."),
    ("B0210", "reserved number or name used", "Old bytes that hold the former field would be read as the new one."),
    ("B0211", "optional changed", "memcpy and febird encode presence in a byte of its own. In an archive struct, what older bytes may lack cannot become required."),
    ("B0212", "tables of a graph changed", "A type whose values refer to others is sent as tables, numbered by the names of the types that are referred to. The first reference to a type makes a graph of it, or moves the tables behind its name. Declare a new type for what refers to more."),
    ("B0213", "reference added to a graph", "Older programs read such a graph, and write unknown fields back while each object keeps its place in its table. Once one has moved, or is gone, indices in a field that they do not know would be wrong, so they leave such fields out. Rebuild the programs that write first."),
    # Enums, flags, unions
    ("B0301", "member of a closed enum added", "An older reader refuses a value that it does not know. An `open enum` keeps it."),
    ("B0302", "member removed", "A closed enum refuses the value from now on; source that names it breaks."),
    ("B0303", "member of another number", "The number is what travels."),
    ("B0304", "width changed", "The width is part of the layout and of the encoding."),
    ("B0305", "enum opened or closed", "A closed reader refuses values that an open sender may hold; generated code differs too."),
    ("B0306", "member renamed", "The bytes are the same; source that uses the old name breaks."),
    ("B0311", "alternative added", "An older reader refuses an alternative that it does not know."),
    ("B0312", "alternative removed", "Values that hold it are refused from now on; source that uses it breaks."),
    # Tiers
    ("B0501", "tier changed", "Each tier has bytes of its own, and every type that holds this one changes with it. Name the tier with @tier to hold it fast."),
    ("B0502", "codec changed", "A custom type's bytes are whatever its codec writes."),
    # Services
    ("B0601", "service removed", "Its clients find no server."),
    ("B0602", "method removed", "Its callers fail."),
    ("B0604", "method renamed", "@was keeps its identity; source that calls or overrides the old name breaks."),
    ("B0605", "scope changed", "`per` decides how servers are looked up, and which of them is addressed."),
    ("B0606", "oneway changed", "One side waits for a reply that the other never sends, or sends one that is not awaited."),
    ("B0607", "no longer idempotent", "Clients that were built when it was send a call again after a failure. It may run twice."),
    ("B0608", "errors changed", "An error travels as its place after `throws`, and older callers do not know a new one."),
    ("B0609", "batch made smaller", "Callers that send larger batches are refused, or split them differently."),
    ("B0610", "deadline shortened", "Calls that had time enough now fail with DEADLINE_EXCEEDED."),
    ("B0611", "stream changed", "A stream and a value are different messages."),
    ("B0612", "replication changed", "Replicas that follow different patterns do not agree on a version."),
    ("B0613", "caching changed", "Callers may now get an older answer than before."),
    ("B0614", "results in another form", "A bare result and named results are different types in generated code."),
    ("B0615", "no longer ordered", "Callers whose batches are sequences of writes rely on their order, which servers keep no more."),
    ("B0616", "no longer extends", "Clients of the extended service find these servers no more, and servants are none of that service any more."),
    ("B0617", "method declared elsewhere", "The bytes are the same; generated structs of its parameters and results are called after the service that declares it."),
    ("B0701", "topic removed", "Its subscribers hear nothing any more."),
    ("B0702", "topic of another type", "Subscribers cannot decode what is published."),
    ("B0703", "less is kept for later subscribers", "Subscribers that come back later than before have a gap, as have late joiners that asked for more."),
    ("B0704", "overflow policy taken away", "Subscribers that ask for it are refused with INVALID_ARGUMENT, and a subscriber that names none may get another one."),
    # Upgrades
    ("R0901", "one order of upgrades only", "Clients adapt to the schema of their server, and subscribers to their publisher's, but a method that the other side lacks, or a field that has no value to take, cannot be made up. Upgrade the side first that is named: where the others are upgraded before, the calls that are listed fail, in words and before they are sent."),
    ("R0902", "no order of upgrades", "Whichever side is upgraded first, some calls fail until the other side is. Add the new beside the old, upgrade all peers, and take the old away in a later change."),
    # Agents
    ("B0801", "agent of another type", "The agent is part of every look-up."),
)  # fmt: skip

# The rules make the messages of findings, which contain the old and the new state.
RULES = {code: Code(code, title, "", explanation) for code, title, explanation in _ROWS}
