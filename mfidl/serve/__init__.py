"""F8. The playground: a page on this machine where a schema is edited beside what it becomes.

    browser -> server (allowed? how large?) -> work (a process with a deadline) -> answers (texts to JSON)

Nothing of the machine is read for a question: a schema has no files to import, and the process that compiles
refuses to open any (confined.py). Templates and generators of users are not run.
"""
