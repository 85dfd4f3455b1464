"""F6. What a change of schemas breaks: two programs in, a list of findings out.

    compare(old, new)   every rule of rules.py, over declarations, types, services and topics
    baseline            the older program, from a file, a folder or a git revision

One rule engine for the command line, editors and CI. The rules are the evolution table of docs/evolution.md,
per tier; "wire" speaks of the fast bytes of peers that were built from the two programs.
"""
