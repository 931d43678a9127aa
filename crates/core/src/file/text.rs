//! Text with a meaning: templates, expressions, JSON, and "a text or something longer".

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

/// Text in which `{{ … }}` stands for a value (`R-EXPR-1`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Template(pub String);

/// A bare expression (`R-EXPR-1`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Expr(pub String);

/// The value of an environment variable: text, or a number or boolean taken as it is printed in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct EnvValue(pub Template);

impl<'de> Deserialize<'de> for EnvValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalar;
        impl de::Visitor<'_> for Scalar {
            type Value = String;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("text, a number or a boolean")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
                Ok(text.to_owned())
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<String, E> {
                Ok(value.to_string())
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<String, E> {
                Ok(number.to_string())
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<String, E> {
                Ok(number.to_string())
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<String, E> {
                Ok(Value::from(number).to_string())
            }
        }
        let text = if deserializer.is_human_readable() {
            deserializer.deserialize_any(Scalar)?
        } else {
            String::deserialize(deserializer)?
        };
        Ok(Self(Template(text)))
    }
}

impl JsonSchema for EnvValue {
    fn schema_name() -> Cow<'static, str> {
        "EnvValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean"] })
    }
}

/// Any JSON value. Stored and hashed as canonical text: keys sorted, no spaces.
#[derive(Debug, Clone, PartialEq)]
pub struct Json(pub Value);

impl Json {
    /// The value as JSON text with sorted keys.
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        write_canonical(&self.0, &mut text);
        text
    }
}

/// Writes JSON with sorted keys and no spaces, so that equal values are equal bytes.
fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(object) => {
            let mut keys: Vec<_> = object.iter().collect();
            keys.sort_unstable_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (at, (key, item)) in keys.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_canonical(item, out);
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.canonical())
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Value::deserialize(deserializer).map(Self);
        }
        let text = Cow::<str>::deserialize(deserializer)?;
        serde_json::from_str(&text).map(Self).map_err(de::Error::custom)
    }
}

impl JsonSchema for Json {
    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::from(true)
    }
}

/// Either plain text or something longer: `needs: [a]` or `needs: [{ node: a, when: always }]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum TextOr<T> {
    /// The short form.
    Text(String),
    /// The long form.
    Long(T),
}

/// How [`TextOr`] is kept where types are not written down.
#[derive(Deserialize)]
enum Stored<T> {
    Text(String),
    Long(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for TextOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Ok(match Stored::deserialize(deserializer)? {
                Stored::Text(text) => Self::Text(text),
                Stored::Long(long) => Self::Long(long),
            });
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
}

struct Either<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Either<T> {
    type Value = TextOr<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("text, or the long form as a mapping or list")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<TextOr<T>, E> {
        Ok(TextOr::Text(text.to_owned()))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<TextOr<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(TextOr::Long)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, seq: A) -> Result<TextOr<T>, A::Error> {
        T::deserialize(OnlyLists(seq)).map(TextOr::Long)
    }
}

/// A list that fills lists only: serde would also fill a struct from it, by position.
struct OnlyLists<A>(A);

impl<'de, A: de::SeqAccess<'de>> Deserializer<'de> for OnlyLists<A> {
    type Error = A::Error;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        Err(de::Error::invalid_type(de::Unexpected::Seq, &visitor))
    }

    fn deserialize_seq<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_seq(self.0)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<T: JsonSchema> JsonSchema for TextOr<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("TextOr{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let long = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [{ "type": "string" }, long] })
    }
}

#[cfg(test)]
mod tests {
    use super::Json;
    use serde_json::json;

    #[test]
    fn canonical_json_sorts_keys_at_every_depth() {
        let value = Json(json!({ "b": [1, { "z": null, "a": "x\"y" }], "a": 1.5 }));
        assert_eq!(value.canonical(), r#"{"a":1.5,"b":[1,{"a":"x\"y","z":null}]}"#);
    }
}
