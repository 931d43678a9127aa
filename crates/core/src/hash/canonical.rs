//! Canonical text of a typed value, straight from serde: JSON with sorted keys, less what is absent.
//!
//! `None`, empty lists, empty mappings and structs without a key left say nothing and are left out together with their
//! key. User JSON arrives as canonical text (see [`crate::file::Json`]), so its own nulls and empty lists stay.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::Range;

use serde::ser::{self, Serialize};

/// Lists whose order and repetition mean nothing, by key.
const SETS: [&str; 6] = ["inputs", "outputs", "pass_env", "secrets", "normalise", "allow_hosts"];

/// The canonical text of a value, without the outermost keys named in `leave_out`; `{}` if nothing is left.
pub(super) fn text<T: Serialize + ?Sized>(value: &T, leave_out: &'static [&'static str]) -> Vec<u8> {
    let mut out = Vec::new();
    match value.serialize(Canonical { out: &mut out, key: "", leave_out }) {
        Ok(true) => out,
        _ => b"{}".to_vec(),
    }
}

/// Writes one value. `Ok(false)` means that the value says nothing and that nothing was written.
struct Canonical<'out> {
    out: &'out mut Vec<u8>,
    /// The key the value stands behind, if it is one of ours: it says which lists are sets.
    key: &'static str,
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

impl Canonical<'_> {
    /// JSON's own way to write a scalar is canonical already.
    fn written<T: Serialize + ?Sized>(self, value: &T) -> Result<bool, Never> {
        serde_json::to_writer(self.out, value).map_err(|_| Never)?;
        Ok(true)
    }
}

macro_rules! scalars {
    ($($method:ident: $type:ty),+) => {
        $(fn $method(self, value: $type) -> Result<bool, Never> {
            self.written(&value)
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
        serialize_f64: f64, serialize_char: char
    }

    fn serialize_str(self, value: &str) -> Result<bool, Never> {
        self.written(value)
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<bool, Never> {
        Err(Never)
    }

    fn serialize_none(self) -> Result<bool, Never> {
        Ok(false)
    }

    /// A key that is there says something, even `{}` and `[]`: an empty list of codes is not the absence of a list.
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<bool, Never> {
        let Canonical { out, key, leave_out } = self;
        if !value.serialize(Canonical { out: &mut *out, key, leave_out })? {
            out.extend_from_slice(b"{}");
        }
        Ok(true)
    }

    fn serialize_unit(self) -> Result<bool, Never> {
        self.written(&())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<bool, Never> {
        self.written(&true)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<bool, Never> {
        self.written(variant)
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
        Ok(Items { out: self.out, set: SETS.contains(&self.key), texts: Vec::new() })
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
        Ok(Keys {
            out: self.out,
            leave_out: self.leave_out,
            values: Vec::new(),
            entries: Vec::new(),
            key: String::new(),
        })
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Keys<'out>, Never> {
        let mut keys = self.serialize_map(None)?;
        if name == "Node" {
            // Words for people, at every depth.
            keys.leave_out = &["description"];
        }
        Ok(keys)
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
    out: &'out mut Vec<u8>,
    set: bool,
    texts: Vec<Vec<u8>>,
}

impl Items<'_> {
    /// An item that says nothing still holds its place in a list.
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        let mut item = Vec::new();
        if !value.serialize(Canonical { out: &mut item, key: "", leave_out: &[] })? {
            item = b"null".to_vec();
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
            self.out.push(b'[');
            self.out.extend_from_slice(&self.texts.join(&b','));
            self.out.push(b']');
        }
        !self.texts.is_empty()
    }
}

struct Keys<'out> {
    out: &'out mut Vec<u8>,
    leave_out: &'static [&'static str],
    /// The values so far, one behind the other.
    values: Vec<u8>,
    /// Each key and where its value stands.
    entries: Vec<(Cow<'static, str>, Range<usize>)>,
    key: String,
}

impl Keys<'_> {
    fn entry<T: Serialize + ?Sized>(
        &mut self,
        key: impl Into<Cow<'static, str>>,
        own: &'static str,
        value: &T,
    ) -> Result<(), Never> {
        let start = self.values.len();
        if !value.serialize(Canonical { out: &mut self.values, key: own, leave_out: &[] })? {
            return Ok(());
        }
        let key = key.into();
        if self.leave_out.contains(&key.as_ref()) {
            self.values.truncate(start);
        } else {
            self.entries.push((key, start..self.values.len()));
        }
        Ok(())
    }

    fn close(mut self) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        self.entries.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        self.out.push(b'{');
        for (at, (key, range)) in self.entries.into_iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            // Writing text into memory cannot fail.
            drop(serde_json::to_writer(&mut *self.out, &key));
            self.out.push(b':');
            self.out.extend_from_slice(&self.values[range]);
        }
        self.out.push(b'}');
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
                self.entry(key, key, value)
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
        let mut quoted = Vec::new();
        key.serialize(Canonical { out: &mut quoted, key: "", leave_out: &[] })?;
        self.key = serde_json::from_slice(&quoted).map_err(|_| Never)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        let key = std::mem::take(&mut self.key);
        self.entry(key, "", value)
    }

    fn end(self) -> Result<bool, Never> {
        Ok(self.close())
    }
}
