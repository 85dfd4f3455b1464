"""F6. The resolved program as a protobuf message (descriptor.proto): what `mfidlc descriptor` prints, and
what generators for other languages read.

`write.py` makes the message of a program, `read.py` a program of the message, without loss, and `formats.py`
bytes, JSON and text of it. `descriptor_pb2.py` is made from descriptor.proto by `make regen`. Importing the
protobuf runtime takes time: who does not need a descriptor does not import this package.
"""
