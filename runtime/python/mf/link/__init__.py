"""R4. Where a session meets a stream; and how a client finds and keeps the servers it talks to."""
