//! As in the HPCC authors' `fct_analysis.py`.

/// Element floor(n · fraction) of the sorted values.
pub(crate) fn percentile(values: &[u64], fraction: f64) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted[(sorted.len() as f64 * fraction) as usize]
}

/// Equal numbers (up to one); ties in list order.
pub(crate) fn size_bins(sizes: &[u64], count: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&flow| sizes[flow]);
    (0..count).map(|bin| order[bin * sizes.len() / count..(bin + 1) * sizes.len() / count].to_vec()).collect()
}

/// In per cent.
pub(crate) fn difference(value: f64, reference: f64) -> f64 {
    100.0 * (value / reference - 1.0)
}
