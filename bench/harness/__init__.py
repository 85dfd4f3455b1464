"""What all benches use: child processes, counters, rows, and how rows are shown."""
