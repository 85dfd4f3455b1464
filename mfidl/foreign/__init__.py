"""F6. Interfaces of others, .proto, .thrift and Slice, as schemas of ours (docs/import.md).

    draft      what a schema to be written says, before it is text
    protoc     runs protobuf's own compiler; proto, proto_defaults: its descriptors as drafts
    scan       words of files that we read ourselves, by ANTLR's lexers, and the base of its parsers
    comments   what documents what; texts, numbers: what literals say
    *_syntax   files of Thrift and Slice as written, by grammar/Thrift.g4 and Slice.g4
    slice_preprocessor, slice_conditions: before the grammar of Slice
    thrift     what they declare as drafts; thrift_values, slice, slice_values alike
    settle     names, keys and loops, alike for all
    text       drafts as formatted schemas
    run        the files of a run, each behind what it includes

If values or calls of a foreign file have no equivalent, that is reported with its place. Options for code
generators are dropped silently.
"""

from mfidl.foreign.run import KINDS, Imported, Options, Result, import_files

__all__ = ["KINDS", "Imported", "Options", "Result", "import_files"]
