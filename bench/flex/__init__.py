"""Flexible messages: Table 2 of the paper, and what matching costs."""
