"""R1. The values of flexible messages, which are self-describing (docs/protocol.md, section 5c).

The set of types is closed: None, bool, int up to 64 bits, float, str, bytes, Timestamp, UUID, list, dict,
numpy arrays, and types of schemas. Decoding never runs code of the sender.
"""
