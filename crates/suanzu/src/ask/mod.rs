//! The grammar in which people ask for capacity: `A100:8`, `H100:80GB:2`, `gpu>=24GB`, `A100:0.25,20GB`, `100tflops`, `1h30m`.

mod compute;
mod duration;
mod gpu;
mod memory;

pub use compute::{Units, thousandths};
pub use duration::{milliseconds, spoken};
pub use gpu::{Gpu, Quantity};
pub use memory::mib;
