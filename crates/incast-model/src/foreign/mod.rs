//! Text files of other simulators: tokens, quantities, and errors with file, line and token.

mod error;
pub(crate) mod quantity;
mod tokens;

pub use error::{Notice, Ns3Error, Severity};
pub(crate) use tokens::{Token, Tokens, digits, read_text};
