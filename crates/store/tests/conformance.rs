//! Every store, one suite.

use sprag_store::{Memory, Store, conformance};

#[test]
fn memory() -> Result<(), String> {
    // R-STORE-1, R-CLAIM-2, R-JRN-1, R-ASK-2
    conformance::journal(Memory::new)?;
    conformance::store(Store::memory)
}

#[test]
fn sqlite() -> Result<(), String> {
    // R-STORE-1, R-CLAIM-2, R-JRN-1, R-ASK-2
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut number = 0;
    conformance::store(|| {
        number += 1;
        let own = folder.path().join(number.to_string());
        std::fs::create_dir(&own).unwrap();
        Store::sqlite(&own.join("sprag.db")).unwrap()
    })
}
