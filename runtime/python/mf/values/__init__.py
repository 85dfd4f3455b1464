"""R2. Files of values that say themselves what they hold (docs/evolution.md, "Values in files";
docs/protocol.md, section 8a).

    form      how the bytes of a file lie: a head, then records; bytes in, bytes out
    texts     descriptor and annex of a type, and what the schema of a file makes of another one
    writer    mf.ValueWriter
    reader    mf.ValueReader
    migrated  a file in the form of another schema, and its values as JSON: for `mfidlc migrate` and `show`
"""
