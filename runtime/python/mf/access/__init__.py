"""Access files, and what they decide for an identity."""
