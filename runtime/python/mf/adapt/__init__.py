"""R1. Bytes of one schema to bytes of another, as a plan says (mf.evolution), for schemas that are known by
their descriptors only: by the codecs that generated code uses, over classes that are made here.

    made         shapes and classes of a schema that was read
    values       from values of these classes to those of the other schema
    transcode    the bytes of a part of a method, there and back

Generated modules do not import this before a peer has another schema.
"""
