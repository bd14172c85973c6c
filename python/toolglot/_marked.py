"""An explanation for a terminal: the text marked up in colour, a legend, and what there is to say beneath."""

from __future__ import annotations

from . import Explanation, Span

RESET = "\x1b[0m"
KEPT = "\x1b[4;33m"
DIM = "\x1b[2m"
# Each kind of span: its colour and its meaning.
KINDS = {
    "content": ("", "text for the user"),
    "reasoning": ("\x1b[3;36m", "reasoning"),
    "name": ("\x1b[1;32m", "a call's name"),
    "arguments": ("\x1b[32m", "a call's arguments"),
    "call": ("\x1b[2;32m", "the rest of a call"),
    "marker": ("\x1b[2;35m", "markup that was taken out"),
    "result": ("\x1b[9;31m", "a result that the model made up"),
    "dropped": ("\x1b[9;2m", "a message for nobody here"),
}


def visible(text: str) -> str:
    """The text without what a terminal would obey: model output may hold escape sequences."""
    return "".join(
        chr(0x2400 + ord(c)) if ord(c) < 0x20 and c not in "\n\t" else "\N{SYMBOL FOR DELETE}" if c in "\x7f\x9b" else c
        for c in text
    )


def paint(text: str, colour: str) -> str:
    """The text in a colour, line by line, so that a pager shows each line alike."""
    if not colour:
        return text
    return "\n".join(f"{colour}{line}{RESET}" if line else "" for line in text.split("\n"))


def source(explanation: Explanation, span: Span) -> str:
    """Return the span as written in the text."""
    return visible(explanation.text[span.start : span.end])


def marked(explanation: Explanation) -> str:
    """The whole: text, legend, and what the report says beneath its list of spans."""
    text = ""
    number = 0
    for span in explanation.spans:
        written = source(explanation, span)
        if span.reason is not None:
            number += 1
            text += paint(written, KEPT) + paint(f"[{number}]", DIM)
        else:
            text += paint(written, KINDS.get(span.kind, ("", ""))[0])
    kinds = {span.kind for span in explanation.spans if span.reason is None}
    legend = [paint(meaning, colour) for kind, (colour, meaning) in KINDS.items() if colour and kind in kinds]
    if explanation.kept:
        legend.append(paint("looked like a call", KEPT))
    first, *rest = str(explanation).split("\n")
    notes = rest[sum(span.kind != "space" for span in explanation.spans) :]
    number = 0
    for at, line in enumerate(notes):
        if line.startswith("no call at "):
            number += 1
            notes[at] = f"[{number}] {line}"
    parts = [text.rstrip("\n")]
    if legend:
        parts.append("  ".join(legend))
    parts.append("\n".join([visible(first), *map(visible, notes)]))
    return "\n\n".join(parts)
