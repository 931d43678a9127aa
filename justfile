# Each recipe is a plain command: without `just`, copy it from here.

# The program under work.
sprag := "cargo run --quiet --locked --bin sprag --"

# List the recipes
default:
    @just --list --unsorted

# Build everything
build:
    cargo build --workspace --all-targets --locked

# Run the tests; arguments go to the test runner
test *arguments:
    ./test {{ arguments }}

# Run exactly what CI runs
check:
    .ci/run

# Format the sources
fmt:
    cargo fmt --all

# Report every lint as an error
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Build the API documentation; a warning is an error
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# Print the line coverage of the core; instrumented code needs more stack
coverage:
    cargo tarpaulin --version >/dev/null 2>&1 || cargo install --locked cargo-tarpaulin
    RUST_MIN_STACK=67108864 cargo tarpaulin --engine llvm --skip-clean --target-dir target/coverage --locked --out Stdout -p sprag-core -p sprag-sim --include-files 'crates/core/src/*' -- --skip shell::payloads --skip shell::random

# Feed hostile workflow files to the loader for ten minutes
fuzz seconds="600":
    cargo +nightly fuzz --version >/dev/null 2>&1 || cargo install --locked cargo-fuzz
    mkdir -p fuzz/corpus/load
    cargo +nightly fuzz run load fuzz/corpus/load fuzz/seeds -- -max_total_time={{ seconds }} -timeout=5 -rss_limit_mb=1024 -dict=fuzz/workflow.dict

# Measure speed
bench *arguments:
    cargo bench --workspace --locked {{ arguments }}

# Measure sprag beside the limits of the machine, and write the figures and the picture of docs/benchmarks.md
bench-all *rows:
    cargo build --release --locked -p sprag-cli -p sprag-bench
    target/release/sprag-bench target/release/sprag --plot docs/pictures/limits.svg --table docs/benchmarks.md {{ rows }}

# Measure what a run itself costs, and write the figures and the picture of docs/benchmarks.md
bench-run:
    cargo bench --locked -p sprag-engine --bench run -- --plot "$PWD/docs/pictures/run-cost.svg" --table "$PWD/docs/benchmarks.md"

# Write the JSON Schema of the workflow file
schema:
    mkdir -p docs/reference
    {{ sprag }} schema > docs/reference/workflow.schema.json

# Draw the pictures of the README
pictures:
    mkdir -p docs/pictures
    {{ sprag }} graph examples/release.yaml --format svg -o docs/pictures/release.svg
    {{ sprag }} graph examples/agent-plan.yaml --format svg -o docs/pictures/agent-plan.svg

# Remove the guards of the core one by one and expect a test to notice each
guards *names:
    cargo run --quiet --locked -p sprag-sim --example guards -- {{ names }}
