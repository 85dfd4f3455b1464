"""What tests of programs that use mf need: a clock, a loop and a network that a test moves and breaks."""
