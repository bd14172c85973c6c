"""Tool calling that works the same with every model and every provider.

The six calls that most programs need:

    tools = toolglot.ToolSet(items)                     # MCP, OpenAI, Anthropic, Gemini ... tools, functions, models
    tools.to("anthropic")                               # for the request; to_prompt() for models without native tools
    turn = toolglot.normalize(response, tools)          # any provider's response; StreamNormalizer reads its stream
    turn = toolglot.extract(text, tools)                # a model's text; StreamParser reads it as it comes
    toolglot.assistant_message(turn, "anthropic")       # the answer, for the history
    toolglot.format_tool_results(results, "anthropic")  # what the calls gave: (call, result) or (call, error, True)

Asking a model, whatever its route can do: ``await toolglot.Client(model, base_url).run(messages, tools)``.

For each ``call`` of ``turn.tool_calls``: if ``call.runnable``, ``await tools.run(call)`` runs a function of the set, and
``call.into(Model)`` gives typed arguments; else ``call.error_message()`` is what to tell the model.

Submodules: :mod:`toolglot.client` and :mod:`toolglot.loop` (asking models), :mod:`toolglot.service` (a mixin for agents), :mod:`toolglot.mcp` (sessions), :mod:`toolglot.router` (pieces of a
proxy for Chat Completions) with :mod:`toolglot.models` (pydantic models of its requests), :mod:`toolglot.compat` (names that other layers
have), :mod:`toolglot.errors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import (
    Answered,
    ArgumentError,
    Attempt,
    Capabilities,
    Config,
    Dialect,
    Endpoint,
    Event,
    Exchange,
    Explanation,
    Finding,
    Issue,
    Loss,
    ModelConfig,
    Policy,
    Repair,
    RepairedJson,
    Span,
    Step,
    StreamNormalizer,
    StreamParser,
    Tool,
    ToolCall,
    ToolSet,
    TranscodedStream,
    Transcoder,
    Translation,
    Turn,
    Usage,
    __version__,
    assistant_message,
    dialects,
    explain,
    extract,
    format_tool_result,
    format_tool_results,
    harden,
    normalize,
    normalize_choices,
    parse_partial_json,
    provider_id,
    repair_json,
)
from .capability import CapabilityStore, capabilities, probe, supports_native_tool_calling
from .config import load_config
from .errors import (
    BadDialectError,
    BadJsonError,
    BadMessageError,
    BadOptionError,
    BadSchemaError,
    BadToolError,
    CallError,
    InternalError,
    ProviderError,
    ToolglotError,
    UnknownDialectError,
    UnknownProviderError,
    WireError,
)
from .functions import Context
from .messages import Messages, check_history, convert_messages, repair_history
from .streams import AsyncEventStream, EventStream, stream
from .transport import AsyncTransport, Transport, wrap

__all__ = [
    "Answered",
    "ArgumentError",
    "AsyncEventStream",
    "AsyncTransport",
    "Attempt",
    "BadDialectError",
    "BadJsonError",
    "BadMessageError",
    "BadOptionError",
    "BadSchemaError",
    "BadToolError",
    "CallError",
    "Capabilities",
    "CapabilityStore",
    "Client",
    "Config",
    "Context",
    "Dialect",
    "Endpoint",
    "Event",
    "EventStream",
    "Exchange",
    "Explanation",
    "Finding",
    "InternalError",
    "Issue",
    "Loss",
    "Messages",
    "ModelConfig",
    "Policy",
    "Progress",
    "ProviderError",
    "Repair",
    "RepairedJson",
    "RunResult",
    "Span",
    "Step",
    "StreamNormalizer",
    "StreamParser",
    "SyncClient",
    "Tool",
    "ToolCall",
    "ToolSet",
    "ToolglotError",
    "TranscodedStream",
    "Transcoder",
    "Translation",
    "Transport",
    "Turn",
    "UnknownDialectError",
    "UnknownProviderError",
    "Usage",
    "WireError",
    "__version__",
    "assistant_message",
    "capabilities",
    "check_history",
    "convert_messages",
    "dialects",
    "explain",
    "extract",
    "format_tool_result",
    "format_tool_results",
    "harden",
    "load_config",
    "normalize",
    "normalize_choices",
    "parse_partial_json",
    "probe",
    "provider_id",
    "repair_history",
    "repair_json",
    "run_tools",
    "stream",
    "supports_native_tool_calling",
    "wrap",
]

if TYPE_CHECKING:
    from . import client as client
    from . import compat as compat
    from . import loop as loop
    from . import mcp as mcp
    from . import models as models
    from . import router as router
    from . import service as service
    from .client import Client, SyncClient
    from .loop import Progress, RunResult, run_tools

_SUBMODULES = ("client", "compat", "loop", "mcp", "models", "router", "service")
_IN_SUBMODULES = {
    "Client": "client",
    "Progress": "loop",
    "RunResult": "loop",
    "SyncClient": "client",
    "run_tools": "loop",
}


def __getattr__(name: str) -> Any:
    # They need asyncio and more, which takes ten times as long to import as the rest; `models` needs pydantic.
    if name in _SUBMODULES or name in _IN_SUBMODULES:
        import importlib

        module = importlib.import_module(f"{__name__}.{_IN_SUBMODULES.get(name, name)}")
        return getattr(module, name) if name in _IN_SUBMODULES else module
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES, *_IN_SUBMODULES})
