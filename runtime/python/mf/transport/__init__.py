"""R3. Byte streams to and from a peer. Transports know nothing of frames."""
