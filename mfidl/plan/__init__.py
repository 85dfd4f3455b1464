"""F5. Decides how each struct is serialized: tier, layout, and the fingerprint of a service."""
