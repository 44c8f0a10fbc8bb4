//! Amounts of memory as people write them.

/// MiB of main memory or of a share: `20GB`, `20GiB`, `512MB`, `1.5TB`. Such amounts are given out in MiB, so GB is read as GiB here.
pub fn mib(text: &str) -> Result<u32, String> {
    bytes(text, 1024.0).and_then(|bytes| whole(bytes, text))
}

/// Least MiB of a card of this nominal size. Vendors count in powers of ten and keep some for error correction, so that an
/// "80GB" card reports 81,559 MiB or less: GB is read as 10⁹ bytes here, and `gpu>=24GB` finds every card sold as 24 GB.
pub fn card_mib(text: &str) -> Result<u32, String> {
    bytes(text, 1000.0).and_then(|bytes| whole(bytes, text))
}

fn bytes(text: &str, step: f64) -> Result<f64, String> {
    let wrong = || format!("'{text}' is no amount of memory: write 20GB, 20GiB or 512MB");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let factor = match unit.to_ascii_lowercase().as_str() {
        "m" | "mb" => step.powi(2),
        "g" | "gb" => step.powi(3),
        "t" | "tb" => step.powi(4),
        "mib" => 1024_f64.powi(2),
        "gib" => 1024_f64.powi(3),
        "tib" => 1024_f64.powi(4),
        _ => return Err(wrong()),
    };
    Ok(number * factor)
}

fn whole(bytes: f64, text: &str) -> Result<u32, String> {
    let mib = (bytes / 1_048_576.0).floor();
    // A float of a whole number within 32 bits converts exactly.
    if (1.0..=f64::from(u32::MAX)).contains(&mib) { Ok(mib as u32) } else { Err(format!("'{text}' is out of range")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_a_share_is_counted_in_powers_of_two() {
        for (text, expected) in [("20GB", 20_480), ("20GiB", 20_480), ("512MB", 512), ("1.5tb", 1_572_864), ("4g", 4_096)] {
            assert_eq!(mib(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_card_of_a_nominal_size_is_at_least_what_the_vendors_driver_reports() {
        // What NVML reports: A100 80 GB, H100 80 GB, RTX 4090, A10, L4, T4.
        for (nominal, reported) in
            [("80GB", 81_920), ("80GB", 81_559), ("24GB", 24_564), ("24GB", 23_028), ("24GB", 23_034), ("16GB", 15_360)]
        {
            assert!(card_mib(nominal).unwrap() <= reported, "{nominal} against {reported}");
        }
        assert!(card_mib("24GB").unwrap() > 16_384, "no 16 GB card passes for 24");
    }

    #[test]
    fn what_is_no_amount_is_named() {
        for wrong in ["", "GB", "20", "20XB", "-1GB", "1.2.3GB", "0GB", "99999999TB"] {
            assert!(mib(wrong).is_err(), "{wrong}");
        }
    }
}
