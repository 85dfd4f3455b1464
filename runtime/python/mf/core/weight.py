"""R0. How much the offers of servers may differ in weight."""

MOST_WEIGHT = 1000
"""The largest weight of an offer: a server with a much larger weight would get nearly all calls."""
