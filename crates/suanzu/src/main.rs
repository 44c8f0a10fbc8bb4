//! The one binary: wiring and arguments.

fn main() {}
