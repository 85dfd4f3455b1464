"""Who may do what: the access files, and what they decide."""
