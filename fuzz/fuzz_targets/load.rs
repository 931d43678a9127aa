//! Any bytes as a workflow file: the loader answers, within its limits, and every place it points at is in the text.
//!
//! A file that it accepts must survive being compiled and kept, and must have waves that follow its edges.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sprag_core::definition::Definition;
use sprag_core::limits::Limits;
use sprag_core::load::load;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match load(text, &Limits::default()) {
        Ok(loaded) => {
            let definition = loaded.definition;
            let kept = definition.to_bytes().expect("a definition can be kept");
            assert_eq!(Definition::from_bytes(&kept).expect("and read again"), definition);
            for edge in definition.graph.edges() {
                assert!(definition.graph.wave(edge.from) < definition.graph.wave(edge.to));
            }
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            for problem in problems {
                assert!(text.get(problem.span.range()).is_some(), "{problem:?}");
                for label in problem.labels {
                    assert!(text.get(label.span.range()).is_some(), "{label:?}");
                }
            }
        }
    }
});
