"""F4. One file a concept: check a declaration and lower it to the model. None where it was wrong, and
reported.
"""
