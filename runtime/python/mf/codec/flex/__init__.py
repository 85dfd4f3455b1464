"""R1. The values of flexible messages: each says by itself what it is (docs/protocol.md, section 5c).

A closed set: None, bool, int to 64 bits, float, str, bytes, Timestamp, UUID, list, dict, numpy arrays, and
what a schema declares. Nothing that is read here can make a receiver run code of the sender's.
"""
