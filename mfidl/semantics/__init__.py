"""F4. Meaning: load what is imported, resolve names, evaluate values, check, and lower the trees to the
model.
"""
