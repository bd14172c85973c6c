//! Why text that looked like a call was kept as text, as `explain` says it.
use super::codes;

codes! {
    /// Why text that looked like a call was kept as text. A later one says more than an earlier one.
    Reason {
        /// Nothing that can be read as a call follows the marker.
        NotReadable => "not_readable",
        /// The text ends before it is clear that this is a call.
        CutOff => "cut_off",
        /// An object without a name.
        NoName => "no_name",
        /// A name without arguments beside it.
        NoArguments => "no_arguments",
        /// A tool is described here, not called.
        Definition => "definition",
        /// Nested deeper than `max_depth`.
        TooDeep => "too_deep",
        /// The message in which it stands is not for a tool.
        Channel => "channel",
        /// No tool was offered, and nothing but an offered name vouches for text without markers.
        NoTools => "no_tools",
        /// The name means none of the offered tools.
        NameNotOffered => "name_not_offered",
        /// Text without markers that does not stand where calls stand.
        Place => "place",
        /// It stands in a block quote, a table, an element that shows an example, or behind a sentence that announces one.
        Quoted => "quoted",
        /// It stands in inline code.
        InlineCode => "inline_code",
        /// It stands in a fence that holds something else as well.
        FenceOfCode => "fence_of_code",
        /// The policy `fences` says that no fence, or not this one, holds calls.
        FencePolicy => "fence_policy",
        /// The policy `bare` says that no text without markers, or not this one, is a call.
        BarePolicy => "bare_policy",
        /// It stands in text that a model without a stop wrote after its answer.
        Runaway => "runaway",
        /// It stands in reasoning, which holds drafts.
        Draft => "draft",
        /// There are `max_calls` calls already.
        LimitReached => "limit_reached",
        /// Another dialect than the named one reads it.
        OtherDialect => "other_dialect",
    }
}
