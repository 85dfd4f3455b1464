"""R3. Bytes to and from a peer. Transports know nothing of frames."""
