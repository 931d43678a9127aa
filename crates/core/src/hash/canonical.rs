//! Canonical text of a typed value, straight from serde: JSON with sorted keys, less what is absent.
//!
//! `None`, empty lists, empty mappings and structs without a key left say nothing and are left out together with their
//! key. User JSON arrives as canonical text (see [`crate::file::Json`]), so its own nulls and empty lists stay.

use std::fmt::Display;

use serde::ser::{self, Serialize};

/// Lists whose order and repetition mean nothing, by key.
const SETS: [&str; 6] = ["inputs", "outputs", "pass_env", "secrets", "normalise", "allow_hosts"];

/// The canonical text of a value, without the outermost keys named in `leave_out`; `{}` if nothing is left.
pub(super) fn text<T: Serialize + ?Sized>(value: &T, leave_out: &'static [&'static str]) -> String {
    let mut out = String::new();
    match value.serialize(Canonical { out: &mut out, set: false, leave_out }) {
        Ok(true) => out,
        _ => "{}".into(),
    }
}

/// Writes one value. `Ok(false)` means that the value says nothing and that nothing was written.
struct Canonical<'out> {
    out: &'out mut String,
    set: bool,
    leave_out: &'static [&'static str],
}

/// Nothing in a workflow fails to serialise; serde wants an error type all the same.
#[derive(Debug)]
struct Never;

impl Display for Never {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("this value has no canonical form")
    }
}

impl std::error::Error for Never {}

impl ser::Error for Never {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

#[expect(clippy::unnecessary_wraps, reason = "these are the tails of serde's methods, which return results")]
impl Canonical<'_> {
    fn written(self, text: &str) -> Result<bool, Never> {
        self.out.push_str(text);
        Ok(true)
    }

    fn quoted(self, text: &str) -> Result<bool, Never> {
        self.out.push_str(&serde_json::Value::from(text).to_string());
        Ok(true)
    }
}

macro_rules! scalars {
    ($($method:ident: $type:ty),+) => {
        $(fn $method(self, value: $type) -> Result<bool, Never> {
            self.written(&serde_json::Value::from(value).to_string())
        })+
    };
}

impl<'out> ser::Serializer for Canonical<'out> {
    type Ok = bool;
    type Error = Never;
    type SerializeSeq = Items<'out>;
    type SerializeTuple = Items<'out>;
    type SerializeTupleStruct = Items<'out>;
    type SerializeTupleVariant = Items<'out>;
    type SerializeMap = Keys<'out>;
    type SerializeStruct = Keys<'out>;
    type SerializeStructVariant = Keys<'out>;

    scalars! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_f32: f32,
        serialize_f64: f64
    }

    fn serialize_char(self, value: char) -> Result<bool, Never> {
        self.quoted(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<bool, Never> {
        self.quoted(value)
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<bool, Never> {
        Err(Never)
    }

    fn serialize_none(self) -> Result<bool, Never> {
        Ok(false)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<bool, Never> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<bool, Never> {
        self.written("null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<bool, Never> {
        self.written("true")
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<bool, Never> {
        self.quoted(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<bool, Never> {
        value.serialize(self)
    }

    /// A long and a short form are different texts already; the name of the variant adds nothing.
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<bool, Never> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'out>, Never> {
        Ok(Items { out: self.out, set: self.set, texts: Vec::new() })
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'out>, Never> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'out>, Never> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Items<'out>, Never> {
        self.serialize_seq(None)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Keys<'out>, Never> {
        Ok(Keys { out: self.out, leave_out: self.leave_out, entries: Vec::new(), key: String::new(), sets: false })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Keys<'out>, Never> {
        Ok(Keys { sets: true, ..self.serialize_map(None)? })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        length: usize,
    ) -> Result<Keys<'out>, Never> {
        self.serialize_struct(name, length)
    }
}

struct Items<'out> {
    out: &'out mut String,
    set: bool,
    texts: Vec<String>,
}

impl Items<'_> {
    /// An item that says nothing still holds its place in a list.
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        let mut item = String::new();
        if !value.serialize(Canonical { out: &mut item, set: false, leave_out: &[] })? {
            item = "null".into();
        }
        self.texts.push(item);
        Ok(())
    }

    fn close(mut self) -> bool {
        if self.set {
            self.texts.sort_unstable();
            self.texts.dedup();
        }
        if !self.texts.is_empty() {
            self.out.push('[');
            self.out.push_str(&self.texts.join(","));
            self.out.push(']');
        }
        !self.texts.is_empty()
    }
}

struct Keys<'out> {
    out: &'out mut String,
    leave_out: &'static [&'static str],
    entries: Vec<(String, String)>,
    key: String,
    /// Whether keys are ours, so that their names say which lists are sets.
    sets: bool,
}

impl Keys<'_> {
    fn entry<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Never> {
        if self.leave_out.contains(&key) {
            return Ok(());
        }
        let mut text = String::new();
        let set = self.sets && SETS.contains(&key);
        if value.serialize(Canonical { out: &mut text, set, leave_out: &[] })? {
            self.entries.push((key.to_owned(), text));
        }
        Ok(())
    }

    fn close(mut self) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        self.entries.sort_unstable();
        self.out.push('{');
        for (at, (key, value)) in self.entries.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            self.out.push_str(&serde_json::Value::from(key.as_str()).to_string());
            self.out.push(':');
            self.out.push_str(value);
        }
        self.out.push('}');
        true
    }
}

macro_rules! items {
    ($($trait:ident::$method:ident),+) => {
        $(impl ser::$trait for Items<'_> {
            type Ok = bool;
            type Error = Never;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
                self.item(value)
            }

            fn end(self) -> Result<bool, Never> {
                Ok(self.close())
            }
        })+
    };
}
items! {
    SerializeSeq::serialize_element, SerializeTuple::serialize_element, SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
}

macro_rules! fields {
    ($($trait:ident),+) => {
        $(impl ser::$trait for Keys<'_> {
            type Ok = bool;
            type Error = Never;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Never> {
                self.entry(key, value)
            }

            fn end(self) -> Result<bool, Never> {
                Ok(self.close())
            }
        })+
    };
}
fields! { SerializeStruct, SerializeStructVariant }

impl ser::SerializeMap for Keys<'_> {
    type Ok = bool;
    type Error = Never;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Never> {
        let mut quoted = String::new();
        key.serialize(Canonical { out: &mut quoted, set: false, leave_out: &[] })?;
        self.key = serde_json::from_str(&quoted).map_err(|_| Never)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        let key = std::mem::take(&mut self.key);
        self.entry(&key, value)
    }

    fn end(self) -> Result<bool, Never> {
        Ok(self.close())
    }
}
