"""F2. Text to syntax tree: tokens, the ANTLR parser with its error recovery, and the tree. Nothing is
resolved here.
"""
