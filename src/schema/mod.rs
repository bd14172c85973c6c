//! The tools offered in a turn: their names, their schemas, and what the model's names and values mean in them.
mod tool;
mod toolset;
mod typing;

pub use tool::Tool;
pub use toolset::{Resolution, ToolSet};
pub use typing::{Expected, read_text};
