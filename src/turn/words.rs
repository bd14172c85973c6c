//! Enums whose variants are words of the public API: each is written once, with its spelling.

/// A closed list of words.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident => $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vmeta])* $variant,)* }

        impl $name {
            /// Every one, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The fixed spelling, part of the public API.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

/// A list of words to which more will come.
macro_rules! codes {
    ($(#[$meta:meta])* $name:ident $variants:tt) => {
        crate::turn::words! { $(#[$meta])* #[non_exhaustive] $name $variants }
    };
}

pub(crate) use {codes, words};
