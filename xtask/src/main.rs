//! Chores of the repository, run as `cargo xtask NAME`.

fn main() {}
