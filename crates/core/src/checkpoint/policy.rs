//! A policy as a checkpoint stores it: as in a workflow file, so that it is read as one.
//!
//! Elsewhere durations are written as numbers, which a file does not allow; here they keep their unit.

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::file::{CheckpointPolicy, Duration, Policy};

pub(super) fn serialize<S: Serializer>(policy: &Policy, serializer: S) -> Result<S::Ok, S::Error> {
    // Named one by one, so that whoever adds a duration finds this place.
    let Policy {
        scheduling: _,
        max_parallelism: _,
        max_node_failures: _,
        max_retries_exhausted: _,
        fail_open: _,
        fail_fast: _,
        deadline,
        budget: _,
        durability: _,
        checkpoints,
        max_interruptions: _,
    } = policy;
    let mut value = serde_json::to_value(policy).map_err(S::Error::custom)?;
    let text = |duration: &Duration| Value::from(duration.to_string());
    if let Some(deadline) = deadline {
        value["deadline"] = text(deadline);
    }
    if let Some(CheckpointPolicy { keep: _, autosave: Some(autosave), before_gates: _, before_expensive: _ }) =
        checkpoints
    {
        value["checkpoints"]["autosave"] = text(autosave);
    }
    value.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Policy, D::Error> {
    Policy::deserialize(deserializer)
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use crate::file::{CheckpointPolicy, Duration, Policy};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Stored(#[serde(with = "super")] Policy);

    #[test]
    fn durations_are_read_back() {
        // R-CP-1, R-CP-5
        let autosave = Some(Duration::from_millis(90_500));
        let policy = Policy {
            deadline: Some(Duration::from_millis(3_600_000)),
            checkpoints: Some(CheckpointPolicy { autosave, ..CheckpointPolicy::default() }),
            ..Policy::default()
        };
        let text = serde_json::to_string(&Stored(policy.clone())).unwrap();
        assert_eq!(serde_json::from_str::<Stored>(&text).unwrap(), Stored(policy), "{text}");
    }
}
