//! The demo's workload: it counts primes for as long as it is let, and says each second how far it is.

use std::{
    io::{self, Write},
    process::ExitCode,
    time::{Duration, Instant},
};

/// Lines come so often.
const LINE: Duration = Duration::from_secs(1);

/// Works until it is ended.
pub fn work() -> ExitCode {
    let (mut primes, mut said) = (Vec::new(), Instant::now());
    let mut candidate = 2_u64;
    loop {
        if is_prime(candidate, &primes) {
            primes.push(candidate);
        }
        candidate += 1;
        if said.elapsed() >= LINE {
            said = Instant::now();
            // Nobody reads any more: then there is nothing left to do.
            if writeln!(io::stdout(), "{} primes below {candidate}", primes.len()).is_err() {
                return ExitCode::FAILURE;
            }
        }
    }
}

fn is_prime(candidate: u64, smaller: &[u64]) -> bool {
    smaller.iter().take_while(|prime| *prime * *prime <= candidate).all(|prime| !candidate.is_multiple_of(*prime))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_primes_and_nothing_else() {
        let mut primes = Vec::new();
        for candidate in 2..100 {
            if is_prime(candidate, &primes) {
                primes.push(candidate);
            }
        }
        assert_eq!(primes.len(), 25, "there are 25 primes below 100");
        assert_eq!(primes[24], 97);
    }
}
