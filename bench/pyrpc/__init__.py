"""Calls between two Python processes over the loopback."""
