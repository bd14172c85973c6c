"""What ``toolglot COMMAND --help`` says."""

from __future__ import annotations

EXTRACT_HELP = """\
Read model outputs and print each call, its status, its repairs and the text round the calls.

Files hold one model output each; with --jsonl, one in the field --field of every line, null being an empty one. A line
that has none is told on standard error, and the others are read. Without a file, or for the file "-", standard input is
read. A call's status is one of
  ok            as the model wrote it
  repaired      mended; every change is listed
  invalid       readable, but not what the tool's schema allows (needs --tools)
  malformed     a call whose arguments cannot be read
  incomplete    cut off; never to be executed
  unknown_tool  names none of the tools (needs --tools)
"""

EXTRACT_EPILOG = """\
examples:
  toolglot extract answer.txt
  ollama run qwen3 "..." | toolglot extract --dialect hermes
  toolglot extract --tools tools.json --json answer.txt | jq '.tool_calls[].arguments'
  toolglot extract --jsonl --field completion log.jsonl --openai
  toolglot extract --jsonl --field choices.0.message.content log.jsonl --json

--tools takes a JSON file with a list of tools as OpenAI, Anthropic or MCP write them. With it, calls that carry no
marker are found too, names and values are checked, and bare text becomes numbers where the schema says so.

exit code: 0 if a call was found, 1 if none was, 2 if the command, a file or a line of one is wrong, or the result cannot
be written.
"""

NORMALIZE_HELP = """\
Read logged responses of providers and print each call, its status, its repairs and the text round the calls.

Each line of the files is one response as the API gave it, of any provider (OpenAI's APIs, Anthropic, Gemini, Mistral, Cohere,
Ollama, Bedrock); with --field it stands in that field of the line. Native calls are read, and those that the server left in the
text. An error that holds what the model wrote is read as well. A line that holds no response is told on standard error, and the
others are read.
"""

NORMALIZE_EPILOG = """\
examples:
  toolglot normalize log.jsonl --summary
  toolglot normalize --field response --tools tools.json --json log.jsonl | jq '.tool_calls[].name'
  toolglot normalize --provider xai --openai log.jsonl

exit code: 0 if a call was found, 1 if none was, 2 if the command, a file or a line of one is wrong, or the result cannot
be written.
"""

EXPLAIN_HELP = """\
Say what was seen where in model outputs, and why what looks like a call is none.

On a terminal, the text is printed in colour, with a legend and the reasons beneath; elsewhere, piece by piece with
places in characters. What looked like a call and is text is told with its reason, for example
  name_not_offered  none of the tools has this name; the nearest ones are named
  inline_code       it stands in `backticks`: quoted, never run
  fence_of_code     it stands in a fence that holds something else as well
  place             without markers, a call begins a line or is all of the answer
  draft             it stands in reasoning that was closed
  no_tools          without markers, only an offered name makes it a call: give --tools
  other_dialect     --dialect names another than the one it is written in
"""

EXPLAIN_EPILOG = """\
examples:
  toolglot explain --tools tools.json answer.txt
  toolglot explain --tools tools.json --color always answer.txt | less -R
  toolglot explain --dialect mistral answer.txt
  toolglot explain --tools tools.json --policy fences=ignore --json answer.txt | jq '.spans[] | select(.reason)'

Colour is used on a terminal, unless the environment variable NO_COLOR is set; --color says otherwise.

exit code: 0 if a call was found, 1 if none was, 2 if the command or a file is wrong, or the result cannot be written.
"""

CAPTURE_HELP = """\
Turn a model output that was read wrongly into a case for a test.

The case is one line of JSON: the output, the tools, and under "expect" what it is read as now. Correct "expect" to what
the output means, and the case fails until toolglot reads it so. --source says where the output is from. The same output is also read in pieces, cut at many
places: it must come out the same, and you are told if it does not.
"""

CAPTURE_EPILOG = """\
examples:
  toolglot capture --tools tools.json answer.txt
  toolglot capture --tools tools.json --name "a list after prose" -o tests/data/dialects/auto.jsonl answer.txt
  pbpaste | toolglot capture --tools tools.json --dialect hermes -o cases.jsonl

With -o the case is added at the end of the file, which tests/test_dialects.py reads if it lies in tests/data/dialects.

exit code: 0 if the case was written, 2 if the command or a file is wrong, 3 if it was written, but the output is read
differently in pieces (a bug in toolglot: please report it with the case).
"""

DIALECTS_HELP = """\
List how model families spell tool calls. A name from this list, a name that a server gives its parser, or the id of a
model can stand after --dialect and in dialect=...; without one, all are recognised.
"""

DIALECTS_EPILOG = """\
examples:
  toolglot dialects             names, and the models that write them
  toolglot dialects hermes      one dialect in full, with an example
  toolglot dialects Qwen/Qwen3-Coder-30B-A3B-Instruct
                                the dialect that this model writes
  toolglot dialects --json      everything, for programs
"""
