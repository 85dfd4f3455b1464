"""One small module a command, loaded when it is called; `command` is what the group runs."""
