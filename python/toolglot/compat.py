"""Drop-in names: what services and routers call their helpers, thin over the real API."""

from ._drop_in_calls import (
    StreamingToolCalls,
    create_assistant_tool_call_message,
    create_tool_result_message,
    parsed_tool_calls,
    process_llm_response,
)

__all__ = [
    "StreamingToolCalls",
    "create_assistant_tool_call_message",
    "create_tool_result_message",
    "parsed_tool_calls",
    "process_llm_response",
]
