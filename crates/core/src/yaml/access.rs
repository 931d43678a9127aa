//! Serde over the tree: typed values straight from the file, and the spot when one does not fit.

use std::collections::HashSet;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::build::{Limits, read};
use super::shape::ShapeError;
use super::tree::{Entry, NodeId, Tree, Value};

/// A tree, less the entries that were found faulty and are left out so that the rest can still be read.
#[derive(Debug)]
pub struct Reader<'tree, 'text> {
    /// The tree.
    pub tree: &'tree Tree<'text>,
    left_out: HashSet<(NodeId, usize)>,
}

impl<'tree, 'text> Reader<'tree, 'text> {
    /// A reader of the whole tree.
    pub fn new(tree: &'tree Tree<'text>) -> Self {
        Self { tree, left_out: HashSet::new() }
    }

    /// Leaves an entry out from now on. False if it already was, so that a caller's loop always ends.
    pub fn leave_out(&mut self, entry: (NodeId, usize)) -> bool {
        self.left_out.insert(entry)
    }

    /// Whether anything at all was left out.
    pub fn is_whole(&self) -> bool {
        self.left_out.is_empty()
    }

    /// What was left out: the list or mapping, and the number of the entry. In no particular order.
    pub(super) fn left_out(&self) -> impl Iterator<Item = (NodeId, usize)> + '_ {
        self.left_out.iter().copied()
    }

    /// The entries of a mapping that are not left out.
    pub fn entries(&self, id: NodeId) -> impl Iterator<Item = (usize, Entry)> + '_ {
        let kept = move |index: &usize| self.left_out.is_empty() || !self.left_out.contains(&(id, *index));
        self.tree.entries(id).iter().copied().enumerate().filter(move |(index, _)| kept(index))
    }

    /// The items of a list that are not left out.
    pub fn items(&self, id: NodeId) -> impl Iterator<Item = (usize, NodeId)> + '_ {
        let kept = move |index: &usize| self.left_out.is_empty() || !self.left_out.contains(&(id, *index));
        self.tree.items(id).iter().copied().enumerate().filter(move |(index, _)| kept(index))
    }
}

/// Reads a typed value from a place in the tree.
pub fn typed<'de, T: Deserialize<'de>>(reader: &'de Reader<'_, '_>, id: NodeId) -> Result<T, ShapeError> {
    T::deserialize(At { reader, id })
}

/// The value of a text that has no types of its own, such as a file of parameters. The error is the first problem.
pub fn plain_value(text: &str, limits: Limits) -> Result<serde_json::Value, String> {
    let (tree, problems) = read(text, limits).map_err(|unreadable| unreadable.0.message)?;
    if let Some(problem) = problems.into_iter().next() {
        return Err(problem.message);
    }
    let reader = Reader::new(&tree);
    typed(&reader, tree.root()).map_err(|error| error.to_string())
}

/// One place in the tree, as a serde deserializer.
#[derive(Clone, Copy)]
struct At<'de, 'tree, 'text> {
    reader: &'de Reader<'tree, 'text>,
    id: NodeId,
}

impl<'de> Deserializer<'de> for At<'de, '_, '_> {
    type Error = ShapeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.reader.tree.value(self.id) {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Unsigned(number) => visitor.visit_u64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::List(_) => visitor.visit_seq(Items { at: self, next: self.reader.items(self.id) }),
            Value::Map(_) => visitor.visit_map(Entries { at: self, next: self.reader.entries(self.id), value: None }),
        }
        .map_err(|error| error.at(self.id))
    }

    /// Present is present: `timeout:` with nothing behind it is a mistake, not an absent timeout.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, ShapeError> {
        visitor.visit_newtype_struct(self).map_err(|error| error.at(self.id))
    }

    /// Enums are words: a name out of a fixed set.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        match self.reader.tree.value(self.id) {
            Value::Text(word) => visitor.visit_enum(Word { word }),
            _ => self.deserialize_any(OneOf { words, value: std::marker::PhantomData }),
        }
        .map_err(|error| error.at(self.id))
    }

    /// Serde would also fill a struct from a list, by position. A workflow file says what it means.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        if let Value::List(_) = self.reader.tree.value(self.id) {
            let error = <ShapeError as de::Error>::invalid_type(de::Unexpected::Seq, &visitor);
            return Err(error.at(self.id));
        }
        self.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// Refuses whatever it is given, with the words that would have been right.
struct OneOf<T> {
    words: &'static [&'static str],
    value: std::marker::PhantomData<T>,
}

impl<T> Visitor<'_> for OneOf<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "one of {}", crate::suggest::listed(self.words.iter().copied()))
    }
}

struct Word<'de> {
    word: &'de str,
}

impl<'de> EnumAccess<'de> for Word<'de> {
    type Error = ShapeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), ShapeError> {
        let word: StrDeserializer<'de, ShapeError> = self.word.into_deserializer();
        Ok((seed.deserialize(word)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'de> {
    type Error = ShapeError;

    fn unit_variant(self) -> Result<(), ShapeError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, ShapeError> {
        Err(de::Error::custom("a plain word cannot carry a value"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, ShapeError> {
        Err(de::Error::custom("a plain word cannot carry a value"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, ShapeError> {
        Err(de::Error::custom("a plain word cannot carry a value"))
    }
}

struct Items<'de, 'tree, 'text, I> {
    at: At<'de, 'tree, 'text>,
    next: I,
}

impl<'de, I: Iterator<Item = (usize, NodeId)>> SeqAccess<'de> for Items<'de, '_, '_, I> {
    type Error = ShapeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ShapeError> {
        let Some((index, id)) = self.next.next() else { return Ok(None) };
        seed.deserialize(At { reader: self.at.reader, id })
            .map(Some)
            .map_err(|error| error.inside(id, self.at.id, index))
    }
}

struct Entries<'de, 'tree, 'text, I> {
    at: At<'de, 'tree, 'text>,
    next: I,
    value: Option<(usize, Entry)>,
}

impl<'de, I: Iterator<Item = (usize, Entry)>> MapAccess<'de> for Entries<'de, '_, '_, I> {
    type Error = ShapeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ShapeError> {
        let Some((index, entry)) = self.next.next() else { return Ok(None) };
        self.value = Some((index, entry));
        seed.deserialize(At { reader: self.at.reader, id: entry.key })
            .map(Some)
            .map_err(|error| error.inside(entry.key, self.at.id, index))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, ShapeError> {
        let (index, entry) = self.value.take().ok_or_else(|| <ShapeError as de::Error>::custom("value before key"))?;
        seed.deserialize(At { reader: self.at.reader, id: entry.value })
            .map_err(|error| error.inside(entry.value, self.at.id, index))
    }
}
