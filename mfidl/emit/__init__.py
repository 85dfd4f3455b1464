"""F6. Generators (cpp, python) over the model, and the writer that puts their files on disk."""
