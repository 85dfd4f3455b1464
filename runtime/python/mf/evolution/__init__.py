"""R0. Whether two schemas understand each other, and how: from the texts of their descriptors and annexes
(docs/protocol.md, sections 7 and 7a) alone. No codec, no socket.

    schema   what the texts say, checked, since they may come from a hostile peer
    rules    from a type of the one schema to a type of the other: what becomes of its values
    plan     what becomes of each method

Both the runtime and the compiler (`mfidlc breaking`) stand on it: these files import only each other and the
standard library.
"""
