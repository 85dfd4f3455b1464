"""What tests of programs that use mf need: docs/testing.md."""
