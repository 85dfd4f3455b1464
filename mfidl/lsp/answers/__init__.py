"""F8. One module for each kind of question: from a snapshot to the answer as the protocol has it."""
