"""R4. Joins a session and a stream; and lets a client find servers and keep connections to them."""
