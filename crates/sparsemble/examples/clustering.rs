//! Groups handwritten digits by a graph of their sparse codes, and compares the groups with the digits.
//!
//! Run with `cargo run --release -p sparsemble --features io --example clustering`.

use sparsemble::clustering::{Clusters, GraphClustering};
use sparsemble::matrix_file::read_labelled;
use sparsemble::metrics::Agreement;
use sparsemble::{Result, Run};

fn main() -> Result<()> {
    let digits = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/digits.csv");
    // The column of the classes is no feature; it only scores.
    let digits = read_labelled::<f32>(digits, Some("digit"))?;

    let clustering = GraphClustering::new(Clusters::Count(10));
    let found = clustering.fit(digits.samples.view(), None, 1, &mut |_stage| (), Run::default())?;

    if let Some(classes) = digits.classes {
        let agreement = Agreement::between(&classes.of_samples, &found.labels)?;
        let (accuracy, nmi) = (100.0 * agreement.accuracy(), 100.0 * agreement.nmi());
        show(&format!("{} digits: accuracy {accuracy:.1} %, NMI {nmi:.1} %", found.labels.len()));
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn show(line: &str) {
    println!("{line}");
}
