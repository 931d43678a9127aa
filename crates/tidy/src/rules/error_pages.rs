//! Every error code has its page, and every page its code.

use crate::{CODES_FILE, Code, Finding, Tree};

const PAGES: &str = "docs/errors/";

/// Pages of that folder that are about all codes.
const OVERVIEW: &str = "README.md";

/// People search for codes: there must be something to find.
pub fn error_pages(tree: &Tree, codes: &[Code]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for code in codes {
        let page = format!("{PAGES}{}.md", code.name);
        if !tree.has(&page) {
            let what = format!("`{}` has no page; write {page}: what happened, why, and what to do", code.name);
            findings.push(Finding::new(CODES_FILE, code.line, what));
        }
    }
    for file in tree.markdown() {
        let Some(name) = file.path.strip_prefix(PAGES).filter(|name| *name != OVERVIEW) else { continue };
        if !codes.iter().any(|code| name.strip_suffix(".md") == Some(&code.name)) {
            let what = format!("no error code has this page; delete it, or add the code to {CODES_FILE}");
            findings.push(Finding::new(&file.path, 1, what));
        }
    }
    findings
}
