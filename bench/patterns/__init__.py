"""Replicated messages: the seed's table of flows, on loopback and on a modelled link."""
