"""Who may do what: identities, and the access files that decide by them."""
