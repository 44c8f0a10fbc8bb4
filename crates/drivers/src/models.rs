//! GPU models as the fleet names them, with their memory and dense FP16 throughput.
//!
//! Throughput is the vendor's tensor figure for FP16 with FP32 accumulation, without structured sparsity. Sources are NVIDIA's
//! datasheets and architecture whitepapers, named per line; where a datasheet prints the figure with sparsity, half of it
//! is taken, as its footnote says.

/// One GPU model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// The fleet's name, such as `A100-80GB`.
    pub name: &'static str,
    /// What NVML's product name contains, without the vendor's name.
    product: &'static str,
    /// Usable memory in MiB, as NVML reports it.
    pub memory_mib: u32,
    /// Dense FP16 throughput in thousandths of a TFLOPS.
    pub tflops_milli: u64,
}

const fn model(name: &'static str, product: &'static str, memory_mib: u32, tflops_milli: u64) -> Model {
    Model { name, product, memory_mib, tflops_milli }
}

/// Longer product names first, so that `A100` does not answer for `A100X`, nor `L4` for `L40S`.
const MODELS: &[Model] = &[
    // Blackwell architecture brief: HGX B200, 36 PFLOPS FP16 with sparsity over 8 GPUs.
    model("B200", "B200", 183_359, 2_250_000),
    // H200 datasheet: SXM 1,979 and NVL 1,671 TFLOPS with sparsity.
    model("H200-NVL", "H200 NVL", 143_771, 835_500),
    model("H200", "H200", 143_771, 989_500),
    // H100 datasheet: SXM 1,979, NVL 1,671, PCIe 1,513 TFLOPS with sparsity.
    model("H100-NVL", "H100 NVL", 95_830, 835_500),
    model("H100-PCIe", "H100 PCIe", 81_559, 756_500),
    model("H100-80GB", "H100", 81_559, 989_500),
    // H800 and A800 differ from H100 and A100 in interconnect and FP64 only.
    model("H800-80GB", "H800", 81_559, 989_500),
    // H20 datasheet: 148 TFLOPS.
    model("H20", "H20", 97_871, 148_000),
    // A100 and A30 datasheets: 312 and 165 TFLOPS.
    model("A800-80GB", "A800", 81_920, 312_000),
    model("A100-80GB", "A100-SXM4-80GB", 81_920, 312_000),
    model("A100-80GB", "A100 80GB", 81_920, 312_000),
    model("A100-40GB", "A100", 40_960, 312_000),
    model("A30", "A30", 24_576, 165_000),
    // A10 and A40 datasheets: 125 and 149.7 TFLOPS.
    model("A10", "A10", 23_028, 125_000),
    model("A40", "A40", 46_068, 149_700),
    // L40S, L40 and L4 datasheets: 362.05, 181.05, and 242 TFLOPS with sparsity.
    model("L40S", "L40S", 46_068, 362_050),
    model("L40", "L40", 46_068, 181_050),
    model("L4", "L4", 23_034, 121_000),
    // T4 datasheet: 65 TFLOPS mixed precision.
    model("T4", "T4", 15_360, 65_000),
    // V100 datasheet: 125 (SXM2) and 112 (PCIe) TFLOPS; the smaller one is promised.
    model("V100-32GB", "V100-SXM2-32GB", 32_768, 125_000),
    model("V100-32GB", "V100-PCIE-32GB", 32_768, 112_000),
    model("V100-16GB", "V100", 16_384, 112_000),
    // Ada and Ampere GA102 whitepapers: 165.2 and 71 TFLOPS FP16 with FP32 accumulation.
    model("RTX4090", "GeForce RTX 4090", 24_564, 165_200),
    model("RTX3090", "GeForce RTX 3090", 24_576, 71_000),
];

/// The model of the fleet's name.
pub fn by_name(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.name == name)
}

/// The model behind NVML's product name, such as `NVIDIA A100-SXM4-80GB`.
pub fn by_product(product: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| contains_words(product, model.product))
}

/// The fleet's name for a product: a known model's, else the product's own name without the vendor, with dashes.
pub fn fleet_name(product: &str) -> String {
    by_product(product).map_or_else(|| dashed(product), |model| model.name.to_owned())
}

fn dashed(product: &str) -> String {
    let words = product.split_whitespace().filter(|word| !word.eq_ignore_ascii_case("nvidia"));
    words.collect::<Vec<_>>().join("-")
}

/// Whether `part` stands in `text` with no letter or digit right before or behind it.
fn contains_words(text: &str, part: &str) -> bool {
    let outside = |c: Option<char>| !c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(part)
        .any(|(at, _)| outside(text[..at].chars().next_back()) && outside(text[at + part.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn product_names_are_read_as_the_fleet_speaks_of_them() {
        for (product, name) in [
            ("NVIDIA A100-SXM4-80GB", "A100-80GB"),
            ("NVIDIA A100 80GB PCIe", "A100-80GB"),
            ("NVIDIA A100-SXM4-40GB", "A100-40GB"),
            ("NVIDIA H100 80GB HBM3", "H100-80GB"),
            ("NVIDIA H100 PCIe", "H100-PCIe"),
            ("NVIDIA H200", "H200"),
            ("NVIDIA L40S", "L40S"),
            ("NVIDIA L40", "L40"),
            ("NVIDIA L4", "L4"),
            ("Tesla T4", "T4"),
            ("NVIDIA A10", "A10"),
            ("NVIDIA GeForce RTX 4090", "RTX4090"),
            ("NVIDIA Quantum 9000", "Quantum-9000"),
        ] {
            assert_eq!(fleet_name(product), name, "{product}");
        }
    }
}
