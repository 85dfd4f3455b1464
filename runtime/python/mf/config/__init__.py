"""R6. Configuration files of programs: `mf.config.load("server.toml")` (docs/configuration.md)."""

from mf.config.load import Config as Config
from mf.config.load import load as load

__all__ = ["Config", "load"]
