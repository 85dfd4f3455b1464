"""The experiments of the technical report, and dCache's way to a file."""
