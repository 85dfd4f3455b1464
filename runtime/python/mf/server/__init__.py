"""R5. Servers: their offers, and the way of requests to handlers."""
