"""Generated from grammar/*.g4 by `make regen`; do not edit."""
