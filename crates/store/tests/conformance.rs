//! Every store, one suite.

use sprag_store::{Memory, conformance};

#[test]
fn memory() -> Result<(), String> {
    // R-STORE-1, R-CLAIM-2, R-JRN-1
    conformance::journal(Memory::new)
}
