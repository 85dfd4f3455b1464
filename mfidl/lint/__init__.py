"""Finds what a schema should not say although the language allows it. Reads the syntax tree and the planned
program of each file.

codes     the catalogue: every rule's code, text and explanation, and which are off unless asked for
subject   one module as rules see it, and walks over its tree
rules     the rules, a small function each, in one table
allow     comments that allow a finding: // lint: allow(L0503)
settings  which rules run: the options and mfidl.toml
run       from files to diagnostics
"""

from mfidl.lint.codes import CATALOGUE, OFF
from mfidl.lint.run import lint_files
from mfidl.lint.settings import Settings, SettingsError, read_settings

__all__ = ["CATALOGUE", "OFF", "Settings", "SettingsError", "lint_files", "read_settings"]
