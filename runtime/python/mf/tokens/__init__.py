"""R3. Tokens: signed statements that name their bearer, for one service and a limited time."""
