mod file;
mod listed;
mod packed;
mod random;
mod unbalanced;

pub(super) use file::Table;
pub(super) use listed::listed;
pub(super) use packed::Residual;
pub(super) use random::random;
pub(super) use unbalanced::unbalanced;
