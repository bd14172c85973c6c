//! What the members of a call object are called, in whatever dialect JSON calls something.

/// What a member of a call object is, by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Name,
    Arguments,
    Id,
    /// An object that holds name and arguments (`"function": {...}`), or the name itself.
    Function,
    /// As `Name`, beside `params` and for an offered tool: as JSON-RPC has it.
    Method,
    /// A list of calls.
    Calls,
    Content,
    /// Whether the agent has to go on: only envelopes have it, with calls or without.
    NeedsMoreWork,
    Other,
}

/// The table of spellings, read both ways.
macro_rules! spellings {
    ($($key:ident: $($spelling:literal)|+;)+) => {
        impl Key {
            /// What `key` means in an object that may be a call.
            pub(crate) fn of(key: &str) -> Self {
                match key {
                    $($($spelling)|+ => Self::$key,)+
                    _ => Self::Other,
                }
            }

            /// The keys that mean this.
            pub(crate) const fn spellings(self) -> &'static [&'static str] {
                match self {
                    $(Self::$key => &[$($spelling),+],)+
                    Self::Other => &[],
                }
            }
        }
    };
}

spellings! {
    Name: "name" | "tool_name" | "function_name" | "func" | "toolName" | "functionName" | "action" | "recipient_name";
    Arguments: "arguments" | "parameters" | "args" | "params" | "input" | "tool_input" | "tool_args" | "kwargs"
        | "action_input" | "toolInput" | "toolArgs" | "function_args" | "tool_arguments" | "toolArguments"
        | "function_arguments" | "tool_parameters" | "tool_params" | "toolParameters" | "parameter" | "argument";
    Id: "id" | "tool_call_id" | "call_id" | "toolCallId" | "toolUseId"
        | "tool_use_id";
    Function: "function" | "tool" | "call" | "function_call" | "tool_call" | "functionCall" | "toolCall";
    Method: "method";
    Calls: "tool_calls" | "toolCalls" | "calls" | "function_calls" | "functions" | "tool_uses";
    Content: "content";
    NeedsMoreWork: "needsMoreWork" | "needs_more_work";
}

/// What says how a message or a call is meant and nothing of what it says, wherever either stands.
fn is_usual(key: &str) -> bool {
    matches!(key, "type" | "id" | "index" | "role" | "status" | "strict")
}

impl Key {
    /// Beside it, a [`Key::Method`] is the name.
    pub(crate) const PARAMS: &str = "params";

    /// What a tool's definition has and a call has not.
    pub(crate) const DESCRIPTION: &str = "description";

    /// A list under this key is one of calls, whatever it holds.
    pub(crate) fn is_envelope(key: &str) -> bool {
        matches!(key, "tool_calls" | "toolCalls")
    }

    /// A member of this key says something of the call and is none of its arguments.
    pub(crate) fn is_about(key: &str) -> bool {
        is_usual(key) || matches!(key, Self::DESCRIPTION | "thought" | "thoughts" | "reasoning")
    }

    /// What agents have round a call, or round a list of calls, by its `key` and the `first` byte of what it holds. Other objects
    /// have most of these words as well.
    pub(crate) fn round_call(key: &str, first: u8) -> Option<Self> {
        match (key, first) {
            ("command" | "action" | "tool_use" | "toolUse", b'{') => Some(Self::Function),
            ("actions" | "commands", b'[') => Some(Self::Calls),
            _ => None,
        }
    }

    /// The keys that [`Self::round_call`] knows and nothing else.
    pub(crate) const ROUND_CALLS: [&str; 5] = ["command", "tool_use", "toolUse", "actions", "commands"];

    /// One of these that is a provider's, which no other object has.
    pub(crate) fn is_of_provider(key: &str) -> bool {
        matches!(key, "tool_use" | "toolUse")
    }

    /// What a call is called with stands under this key, and in no definition.
    pub(crate) fn is_of_calls(key: &str) -> bool {
        matches!(key, "action_input" | "actionInput" | "tool_input" | "toolInput")
    }

    /// A member of this key, beside a call, is what agents are asked to say before they act.
    pub(crate) fn is_of_agent(key: &str) -> bool {
        matches!(
            key,
            "thought"
                | "thoughts"
                | "thinking"
                | "reasoning"
                | "rationale"
                | "reflection"
                | "analysis"
                | "explanation"
                | "criticism"
                | "plan"
                | "speak"
                | "memory"
                | "next_goal"
                | "current_state"
                | "evaluation_previous_goal"
        )
    }

    /// A member of this key describes what a tool takes or gives, as definitions of MCP's and of providers do.
    pub(crate) fn is_schema(key: &str) -> bool {
        matches!(key, "inputSchema" | "input_schema" | "outputSchema" | "output_schema")
    }

    /// As [`Self::is_schema`], or what a call is called with, as some models write it.
    pub(crate) fn may_be_schema(key: &str) -> bool {
        key == "parameters" || Self::is_schema(key)
    }

    /// A member of this key, beside a call, says what came of it.
    pub(crate) fn is_outcome(key: &str) -> bool {
        matches!(
            key,
            "output"
                | "result"
                | "results"
                | "response"
                | "observation"
                | "error"
                | "exit_code"
                | "stdout"
                | "stderr"
                | "tool_result"
                | "tool_output"
                | "tool_response"
                | "return_value"
                | "returned"
                | "finished_at"
                | "completed_at"
                | "executed_at"
                | "duration"
                | "duration_ms"
                | "elapsed"
                | "elapsed_ms"
        )
    }

    /// A member of this key and JSON's `value`, beside a call, says that it is over, or is not to be made.
    pub(crate) fn says_over(key: &str, value: &str) -> bool {
        match key {
            "status" | "state" => {
                let word = value.trim_matches('"');
                OVER.iter().any(|known| known.eq_ignore_ascii_case(word))
            }
            "success" | "succeeded" => matches!(value, "true" | "false"),
            "executed" | "done" | "finished" | "failed" | "skip" | "skipped" | "cancelled" | "canceled" | "dry_run" => {
                value == "true"
            }
            "approved" | "confirmed" | "allowed" => value == "false",
            _ => false,
        }
    }

    /// A member of this key and JSON's `value` says so in an object that is no item of an answer: of one that is, it says that it
    /// was written whole.
    pub(crate) fn says_completed(key: &str, value: &str) -> bool {
        matches!(key, "status" | "state") && matches!(value, "\"completed\"" | "\"complete\"")
    }

    /// A member of this key, beside calls, is one that every message has, or every request of JSON-RPC's.
    pub(crate) fn is_of_message(key: &str) -> bool {
        is_usual(key) || matches!(key, "object" | "model" | "finish_reason" | "jsonrpc" | "method")
    }
}

/// What says of a call that it is over.
const OVER: [&str; 14] = [
    "success",
    "succeeded",
    "successful",
    "ok",
    "done",
    "finished",
    "executed",
    "failed",
    "failure",
    "error",
    "cancelled",
    "canceled",
    "skipped",
    "denied",
];
