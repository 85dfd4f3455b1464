"""F6. The resolved program as a protobuf message (descriptor.proto): the output of `mfidlc descriptor`, and
the input of generators for other languages.

`write.py` converts a program to a message, `read.py` a message to a program, without loss, and `formats.py` a
message to bytes, JSON and text. `descriptor_pb2.py` is made from descriptor.proto by `make regen`. Importing
the protobuf runtime takes time: code that needs no descriptor must not import this package.
"""
