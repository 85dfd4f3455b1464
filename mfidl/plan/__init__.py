"""F5. How each struct is serialized: tier, layout, and the fingerprint of a service."""
