"""R2. The protocol without sockets, clocks or threads: bytes in, events out (docs/protocol.md)."""
