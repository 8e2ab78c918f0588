//! The `fatpoint` command.
fn main() {}
