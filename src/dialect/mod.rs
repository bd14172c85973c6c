//! The catalogue: how each model family spells tool calls in text.
