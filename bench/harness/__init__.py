"""What every bench stands on: child processes, counters, rows, and how they are shown."""
