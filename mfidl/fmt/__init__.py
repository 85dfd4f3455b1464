"""Schemas in their one canonical style. It uses the floors up to syntax; nothing is resolved.

    trivia    tokens with the comments and line breaks before them, put in one normal order
    document  text with places where a line may break, and the printer that decides which do
    layout    tokens to a document: the style itself
    same      that a formatted text means what the text before it meant
    files     reading, comparing, and replacing files whole or not at all

The style is described for its users in docs/formatting.md.
"""

from mfidl.fmt.files import FormatOutcome, FormatResult, format_files, format_source, format_stream

__all__ = ["FormatOutcome", "FormatResult", "format_files", "format_source", "format_stream"]
