//! A workflow of 60 nodes that has something of everything, and whose result is the same however often it is disturbed.

use std::fmt::Write as _;

/// How many waves there are, of ten nodes each.
const WAVES: usize = 6;

/// What every command begins with: it says in the ledger that it is there.
pub const STEP: &str = r#"
note() {
    printf '%s %s %s %s %s\n' "$1" "$SPRAG_ATTEMPT_ID" "$SPRAG_IDEMPOTENCY_KEY" "$SPRAG_NODE_ID" "$SPRAG_OWNER" >> ledger
}
note start
"#;

/// The workflow. The fourth, fifth and sixth node of a wave leave processes behind that write into the ledger later.
pub fn workflow(scheduling: &str) -> String {
    let mut text = format!(
        "workflow: wide\ncontext: {{ at: 0 }}\npolicy: {{ scheduling: {scheduling} }}\n\
         defaults: {{ retry: {{ initial_delay: 5ms, max_delay: 30ms }} }}\nnodes:\n"
    );
    for wave in 0..WAVES {
        for place in 0..10 {
            node(&mut text, wave, place);
        }
    }
    text
}

fn node(text: &mut String, wave: usize, place: usize) {
    let name = |wave: usize, place: usize| format!("w{wave}p{place}");
    let above = |place: usize| name(wave - 1, place);
    // Of each wave, the first six nodes and the last always complete.
    let (left, right) = ([0, 1, 2, 3, 4, 5, 9][place % 7], [0, 1, 2, 3, 4, 5, 9][(place + 2) % 7]);
    let mut keys = Vec::new();
    let sum = if wave == 0 {
        format!("sum={place}")
    } else {
        keys.push(match place {
            7 => format!("needs: [{{ node: {}, when: on_failure }}]", above(6)),
            8 => format!("needs: [{{ node: {}, condition: \"output|int % 2 == 0\" }}]", above(0)),
            9 => format!("join: any\n    needs: [{{ node: {}, when: always }}, {}]", above(8), above(9)),
            _ => format!("needs: [{}, {}]", above(left), above(right)),
        });
        match place {
            7..=9 => format!("sum=$((({wave} + {place}) * 3))"),
            _ => format!(
                "a={{{{ nodes.{}.output }}}}; b={{{{ nodes.{}.output }}}}; sum=$(((a + b + {place}) % 1000))",
                above(left),
                above(right)
            ),
        }
    };
    let late = "sleep 0.03; note late; sleep 60";
    let work = match place {
        1 => {
            format!("printf '{{\"at\": %s, \"{}\": {{\"sum\": %s}}}}' {wave} $sum > $SPRAG_CONTEXT", name(wave, place))
        }
        2 => {
            keys.push("retry: { max_attempts: 3 }".into());
            format!("if mkdir tried-{wave}; then note stop; exit 1; fi")
        }
        3 => format!("sh -c '. ./later.sh; {late}' > later 2>&1 & sleep 0.01"),
        4 => format!("(sh -c '. ./later.sh; {late}' > later 2>&1 &) & sleep 0.02"),
        5 => format!("setsid sh -c '. ./later.sh; {late}' > later 2>&1 & sleep 0.01"),
        6 if wave + 1 < WAVES => {
            keys.push("retry: { max_attempts: 2 }".into());
            "note stop; exit 3".into()
        }
        9 => {
            keys.push(format!("outputs: [made/{wave}]"));
            format!("mkdir -p made; echo $sum > made/{wave}")
        }
        _ => "sleep 0.01".into(),
    };
    let _ = writeln!(text, "  {}:", name(wave, place));
    for key in keys {
        let _ = writeln!(text, "    {key}");
    }
    let _ =
        writeln!(text, "    run: |\n      . ./step.sh\n      {sum}\n      {work}\n      note stop\n      echo $sum");
}
