"""The grammar of grammar/*.g4 as data, and what is made of it: railroad diagrams, and sentences for tests."""
