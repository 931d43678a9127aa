//! Fixed paths such as `nodes.a.output`, read straight from the stored JSON.

use std::borrow::Cow;

use minijinja::Value;
use minijinja::machinery::ast::Expr;
use serde_json::Value as Json;

/// Where a path leads.
pub(super) enum Place<'json> {
    /// To a stored value.
    At(&'json Json),
    /// Nowhere.
    Missing,
    /// It is not fixed.
    Computed,
}

/// Follows a chain of attributes and constant subscripts that starts at a name.
pub(super) fn place<'json>(roots: &'json [(String, Option<Cow<'_, Json>>)], expr: &Expr<'_>) -> Place<'json> {
    let (base, found): (_, fn(&'json Json, &Expr<'_>) -> Option<&'json Json>) = match expr {
        Expr::Var(var) => {
            let root = roots.iter().find(|(name, _)| name == var.id).and_then(|(_, value)| value.as_deref());
            return root.map_or(Place::Missing, Place::At);
        }
        Expr::GetAttr(get) => (&get.expr, |base, expr| match expr {
            Expr::GetAttr(get) => base.as_object()?.get(get.name),
            _ => None,
        }),
        Expr::GetItem(get) if matches!(get.subscript_expr, Expr::Const(_)) => (&get.expr, |base, expr| match expr {
            Expr::GetItem(get) => match &get.subscript_expr {
                Expr::Const(key) => step(base, &key.value),
                _ => None,
            },
            _ => None,
        }),
        _ => return Place::Computed,
    };
    match place(roots, base) {
        // A subscript of text is a character, which is not stored as a value of its own.
        Place::At(Json::String(_)) if matches!(expr, Expr::GetItem(_)) => Place::Computed,
        Place::At(base) => found(base, expr).map_or(Place::Missing, Place::At),
        other => other,
    }
}

/// The item of a list or a map under a key.
pub(super) fn step<'json>(base: &'json Json, key: &Value) -> Option<&'json Json> {
    match base {
        Json::Object(entries) => entries.get(key.as_str()?),
        Json::Array(items) if key.is_integer() => {
            let at = key.as_i64()?;
            let from_end = usize::try_from(at.unsigned_abs()).ok()?;
            items.get(if at < 0 { items.len().checked_sub(from_end)? } else { from_end })
        }
        _ => None,
    }
}

/// A path as its author wrote it, if it is fixed.
pub(super) fn written(expr: &Expr<'_>) -> Option<String> {
    Some(match expr {
        Expr::Var(var) => var.id.to_owned(),
        Expr::GetAttr(get) => format!("{}.{}", written(&get.expr)?, get.name),
        Expr::GetItem(get) => match &get.subscript_expr {
            Expr::Const(key) => match key.value.as_str() {
                Some(text) => format!("{}['{text}']", written(&get.expr)?),
                None => format!("{}[{}]", written(&get.expr)?, key.value),
            },
            _ => return None,
        },
        _ => return None,
    })
}

/// A key in a message.
pub(super) fn named(key: &Value) -> String {
    match key.as_str() {
        Some(text) => format!("`{}`", short(text)),
        None if key.is_number() => format!("item {key}"),
        None => format!("item of type {}", key.kind()),
    }
}

/// As much of a text as a message can take.
pub(super) fn short(text: &str) -> Cow<'_, str> {
    const CHARS: usize = 80;
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
