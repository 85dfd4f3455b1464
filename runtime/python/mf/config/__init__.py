"""R6. Configuration files of programs: `mf.config.load("server.toml")` (docs/configuration.md)."""

from mf.config.load import Config as Config
from mf.config.load import load as load
from mf.config.log import set_up_log as set_up_log

__all__ = ["Config", "load", "set_up_log"]
