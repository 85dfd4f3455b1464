"""F4. One file for each concept: checks a declaration and lowers it to the model. None if it was wrong, which
was reported.
"""
