//! Declarations of counters, and of enums with names in results.

use serde::Serialize;

/// Use in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Notice {
    /// None: in the manifest and in sweeps only.
    Quiet,
    /// Summaries and pages show it above 0.
    Shown,
    /// Pages show it; above 0 the run fails.
    Failure,
}

/// Declaration of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counter {
    /// Name.
    pub name: &'static str,
    /// Unit; empty for numbers.
    pub unit: &'static str,
    /// Use in reports.
    pub notice: Notice,
    /// Counted things: a number may precede it.
    pub description: &'static str,
}

/// Declares counters, each as `field: unit, notice, description;`.
macro_rules! counters {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($field:ident: $unit:literal, $notice:ident, $description:expr;)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
        pub struct $name {
            $(#[doc = $description] pub $field: u64,)+
        }

        impl $name {
            /// Declarations in order.
            pub const ALL: &[Counter] = &[$(Counter {
                name: stringify!($field),
                unit: $unit,
                notice: Notice::$notice,
                description: $description,
            },)+];
        }

        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)+
            }
        }
    };
}

/// Declares an enum with values `Variant: name, meaning;`.
macro_rules! named {
    ($(#[$meta:meta])* pub enum $enum:ident { $($variant:ident: $name:expr, $meaning:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $enum {
            $(#[doc = $meaning] $variant,)+
        }

        impl $enum {
            /// Values, in order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Names in results, with meanings.
            pub const NAMES: &[(&str, &str)] = &[$(($name, $meaning),)+];

            /// Name in results.
            pub const fn name(self) -> &'static str {
                Self::NAMES[self as usize].0
            }

            /// Meaning.
            pub const fn meaning(self) -> &'static str {
                Self::NAMES[self as usize].1
            }
        }
    };
}
