"""R3. Tokens: a signed statement that its bearer is somebody, for one service and a limited time."""
