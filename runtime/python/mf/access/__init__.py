"""Access files, and what they decide for an identity. The names in `__all__` are public, for tools."""

from mf.access.names import objection_to_name
from mf.access.parse import load_rules
from mf.access.rules import Action, Decision, Rules, Wish

__all__ = ["Action", "Decision", "Rules", "Wish", "load_rules", "objection_to_name"]
