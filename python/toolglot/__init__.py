"""Tool calling that works the same with every model and every provider."""

from ._core import (
    ArgumentError,
    Event,
    Issue,
    Policy,
    Repair,
    ToolCall,
    ToolSet,
    Turn,
    Usage,
    __version__,
)
from .errors import (
    BadDialectError,
    BadJsonError,
    BadMessageError,
    BadOptionError,
    BadToolError,
    InternalError,
    ProviderError,
    ToolglotError,
    UnknownDialectError,
    UnknownProviderError,
)

__all__ = [
    "ArgumentError",
    "BadDialectError",
    "BadJsonError",
    "BadMessageError",
    "BadOptionError",
    "BadToolError",
    "Event",
    "InternalError",
    "Issue",
    "Policy",
    "ProviderError",
    "Repair",
    "ToolCall",
    "ToolSet",
    "ToolglotError",
    "Turn",
    "UnknownDialectError",
    "UnknownProviderError",
    "Usage",
    "__version__",
]
