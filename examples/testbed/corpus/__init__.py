"""The testbed's input: WordNet's glosses as SCD documents, and a plain index to check the services against.

Standard library only, and nothing that the MF/IDL compiler generates: what these modules answer must not
depend on what is under test.
"""
