//! One suite for every driver: what an agent may rely on, whichever backend runs the leases.

mod bench;
mod container;
mod host;
mod process;
mod simulated;
mod suite;

/// Runs the named tests of the suite on one backend, each with a fresh one.
#[macro_export]
macro_rules! conforms {
    ($backend:expr; $($test:ident)*) => {$(
        #[test]
        fn $test() {
            if let Some(backend) = $backend {
                $crate::suite::$test($crate::bench::Bench::new(Box::new(backend)));
            }
        }
    )*};
}
