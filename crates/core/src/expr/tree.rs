//! Evaluates the syntax tree of an expression.
//!
//! We walk the tree ourselves instead of running `MiniJinja`'s instructions. Those apply operators without a bound,
//! already while compiling when the operands are constants, and forget the name of what is not defined.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::OnceLock;

use minijinja::machinery::ast::{BinOp, BinOpKind, CallArg, Compare, CompareOpKind, Expr, GetItem, UnaryOpKind};
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Error, Expression, State, Value};
use serde_json::Value as Json;

use super::environment::{environment, fuel};
use super::form::{error, from_json, slice, text};
use super::fuel::Fuel;
use super::place::{Place, named, place, step, written};

/// One evaluation of one tree.
pub(super) struct Tree<'names> {
    /// The names that the expression starts from.
    pub(super) roots: Vec<(String, Option<Cow<'names, Json>>)>,
    /// What it may still spend.
    pub(super) fuel: Fuel,
    /// What filters run in; made when the first one is called.
    pub(super) state: Option<State<'static, 'static>>,
}

/// What can be called.
#[derive(Clone, Copy)]
enum Callable {
    Filter,
    Test,
    Function,
}

impl Tree<'_> {
    /// The value of an expression that must have one.
    pub(super) fn value(&mut self, expr: &Expr<'_>) -> Result<Value, Error> {
        let value = self.any(expr)?;
        if value.is_undefined() { Err(self.missing(expr)) } else { Ok(value) }
    }

    /// The value of an expression, undefined if something on its path does not exist.
    fn any(&mut self, expr: &Expr<'_>) -> Result<Value, Error> {
        match expr {
            Expr::Const(constant) => Ok(constant.value.clone()),
            Expr::Var(_) => self.placed(expr),
            Expr::GetAttr(get) => match self.placed(expr) {
                Ok(value) if value.is_undefined() => self.attribute(&get.expr, get.name),
                other => other,
            },
            Expr::GetItem(get) => self.item(get),
            Expr::Slice(cut) => {
                let whole = self.value(&cut.expr)?;
                let [start, end, step] = [&cut.start, &cut.stop, &cut.step]
                    .map(|part| part.as_ref().map(|part| self.value(part)).transpose());
                slice(&whole, [start?, end?, step?], &mut self.fuel)
            }
            Expr::UnaryOp(op) => {
                let operand = self.value(&op.expr)?;
                match op.op {
                    UnaryOpKind::Not => Ok(Value::from(!operand.is_true())),
                    UnaryOpKind::Neg if operand.kind() != ValueKind::Number => {
                        Err(error(format!("`-` needs a number, not a value of type {}", operand.kind())))
                    }
                    UnaryOpKind::Neg => calculate(BinOpKind::Sub, Value::from(0), operand),
                }
            }
            Expr::BinOp(op) => self.binary(op),
            Expr::Compare(compare) => self.comparison(compare),
            Expr::IfExpr(choice) => {
                if self.value(&choice.test_expr)?.is_true() {
                    self.any(&choice.true_expr)
                } else {
                    choice.false_expr.as_ref().map_or_else(|| Ok(Value::from(())), |other| self.any(other))
                }
            }
            Expr::Filter(filter) => {
                let optional = matches!(filter.name, "default" | "d");
                self.call(Callable::Filter, filter.name, filter.expr.as_ref(), optional, &filter.args)
            }
            Expr::Test(test) => {
                let optional = matches!(test.name, "defined" | "undefined");
                self.call(Callable::Test, test.name, Some(&test.expr), optional, &test.args)
            }
            Expr::Call(call) => match &call.expr {
                Expr::Var(function) => self.call(Callable::Function, function.id, None, false, &call.args),
                _ => Err(error("values have no methods")),
            },
            Expr::List(list) => self.values(&list.items).map(Value::from),
            Expr::Tuple(tuple) => self.values(&tuple.items).map(Value::from),
            Expr::Map(map) => {
                let (keys, values) = (self.values(&map.keys)?, self.values(&map.values)?);
                Ok(Value::from_pairs(keys.into_iter().zip(values)))
            }
        }
    }

    fn values(&mut self, items: &[Expr<'_>]) -> Result<Vec<Value>, Error> {
        items.iter().map(|item| self.value(item)).collect()
    }

    /// What stands at a fixed path under a name, without making a value of all around it.
    fn placed(&mut self, expr: &Expr<'_>) -> Result<Value, Error> {
        match place(&self.roots, expr) {
            Place::At(json) => from_json(json, &mut self.fuel),
            Place::Missing | Place::Computed => Ok(Value::UNDEFINED),
        }
    }

    fn attribute(&mut self, base: &Expr<'_>, name: &str) -> Result<Value, Error> {
        if !matches!(place(&self.roots, base), Place::Computed) {
            return Ok(Value::UNDEFINED);
        }
        let base = self.any(base)?;
        if base.is_undefined() { Ok(base) } else { base.get_attr(name) }
    }

    fn item(&mut self, get: &GetItem<'_>) -> Result<Value, Error> {
        let key = self.value(&get.subscript_expr)?;
        match place(&self.roots, &get.expr) {
            Place::At(base @ (Json::Array(_) | Json::Object(_))) => {
                step(base, &key).map_or(Ok(Value::UNDEFINED), |json| from_json(json, &mut self.fuel))
            }
            Place::At(base) => from_json(base, &mut self.fuel)?.get_item(&key),
            Place::Missing => Ok(Value::UNDEFINED),
            Place::Computed => {
                let base = self.any(&get.expr)?;
                if base.is_undefined() { Ok(base) } else { base.get_item(&key) }
            }
        }
    }

    fn binary(&mut self, op: &BinOp<'_>) -> Result<Value, Error> {
        let left = self.value(&op.left)?;
        match op.op {
            BinOpKind::ScAnd if !left.is_true() => return Ok(left),
            BinOpKind::ScOr if left.is_true() => return Ok(left),
            _ => {}
        }
        let right = self.value(&op.right)?;
        match op.op {
            BinOpKind::ScAnd | BinOpKind::ScOr => Ok(right),
            BinOpKind::Eq => Ok(Value::from(left == right)),
            BinOpKind::Ne => Ok(Value::from(left != right)),
            BinOpKind::Lt => ordered(&left, &right, Ordering::is_lt),
            BinOpKind::Lte => ordered(&left, &right, Ordering::is_le),
            BinOpKind::Gt => ordered(&left, &right, Ordering::is_gt),
            BinOpKind::Gte => ordered(&left, &right, Ordering::is_ge),
            BinOpKind::In => self.contains(left, right),
            BinOpKind::Concat => {
                let joined = text(&left, &mut self.fuel)? + &text(&right, &mut self.fuel)?;
                Ok(Value::from(joined))
            }
            BinOpKind::Mul => {
                self.pay_repetition(&left, &right)?;
                let product = calculate(op.op, left, right)?;
                self.fuel.settled(product)
            }
            _ => {
                self.fuel.weigh(&left)?;
                self.fuel.weigh(&right)?;
                let result = calculate(op.op, left, right)?;
                self.fuel.settled(result)
            }
        }
    }

    /// Text and lists can be multiplied: `MiniJinja` goes up to a hundred million.
    fn pay_repetition(&mut self, left: &Value, right: &Value) -> Result<(), Error> {
        let (left_weight, right_weight) = (self.fuel.weigh(left)?, self.fuel.weigh(right)?);
        for (value, weight, other) in [(left, left_weight, right), (right, right_weight, left)] {
            if value.kind() != ValueKind::Number {
                self.fuel.burn(weight.saturating_mul(other.as_usize().unwrap_or(0)))?;
            }
        }
        Ok(())
    }

    fn comparison(&mut self, compare: &Compare<'_>) -> Result<Value, Error> {
        let mut left = self.value(&compare.expr)?;
        for op in &compare.ops {
            let right = self.value(&op.expr)?;
            let holds = match op.op {
                CompareOpKind::Eq => Value::from(left == right),
                CompareOpKind::Ne => Value::from(left != right),
                CompareOpKind::Lt => ordered(&left, &right, Ordering::is_lt)?,
                CompareOpKind::Lte => ordered(&left, &right, Ordering::is_le)?,
                CompareOpKind::Gt => ordered(&left, &right, Ordering::is_gt)?,
                CompareOpKind::Gte => ordered(&left, &right, Ordering::is_ge)?,
                CompareOpKind::In => self.contains(left, right.clone())?,
                CompareOpKind::NotIn => Value::from(!self.contains(left, right.clone())?.is_true()),
            };
            if !holds.is_true() {
                return Ok(Value::from(false));
            }
            left = right;
        }
        Ok(Value::from(true))
    }

    fn contains(&mut self, item: Value, container: Value) -> Result<Value, Error> {
        if !matches!(container.kind(), ValueKind::String | ValueKind::Seq | ValueKind::Map) {
            return Err(error(format!("`in` needs text, a list or a map, not a value of type {}", container.kind())));
        }
        self.apply(Callable::Test, "in", &[item, container])
    }

    fn call(
        &mut self,
        what: Callable,
        name: &str,
        subject: Option<&Expr<'_>>,
        optional: bool,
        arguments: &[CallArg<'_>],
    ) -> Result<Value, Error> {
        let mut values = Vec::with_capacity(arguments.len() + 1);
        if let Some(subject) = subject {
            values.push(if optional { self.any(subject)? } else { self.value(subject)? });
        }
        let mut options = Vec::new();
        for argument in arguments {
            match argument {
                CallArg::Pos(expr) => values.push(self.value(expr)?),
                CallArg::Kwarg(name, expr) => options.push(((*name).to_owned(), self.value(expr)?)),
                CallArg::PosSplat(expr) => {
                    let list = self.value(expr)?;
                    self.fuel.weigh(&list)?;
                    for item in list.try_iter()?.checked() {
                        values.push(item?);
                    }
                }
                CallArg::KwargSplat(expr) => {
                    let map = self.value(expr)?;
                    for key in map.try_iter()?.checked() {
                        let key = key?;
                        options.push((text(&key, &mut self.fuel)?, map.get_item(&key)?));
                    }
                }
            }
        }
        if !options.is_empty() {
            values.push(Value::from(options.into_iter().collect::<Kwargs>()));
        }
        self.apply(what, name, &values)
    }

    /// Calls something with the fuel of this evaluation.
    fn apply(&mut self, what: Callable, name: &str, arguments: &[Value]) -> Result<Value, Error> {
        let state = self.state.get_or_insert_with(|| environment().empty_state());
        std::mem::swap(fuel(state), &mut self.fuel);
        let (kind, result) = match what {
            Callable::Filter => ("filter", state.apply_filter(name, arguments)),
            Callable::Test => ("test", state.perform_test(name, arguments).map(Value::from)),
            Callable::Function => {
                let function = state.lookup(name).unwrap_or_default();
                ("function", function.call(state, arguments))
            }
        };
        std::mem::swap(fuel(state), &mut self.fuel);
        result.map_err(|cause| error(format!("{kind} `{name}`: {}", reason(&cause))))
    }

    /// Says what is not there.
    fn missing(&mut self, expr: &Expr<'_>) -> Error {
        let (base, key) = match expr {
            Expr::Var(var) => return error(format!("there is no `{}`", var.id)),
            Expr::GetAttr(get) => (&get.expr, Value::from(get.name)),
            Expr::GetItem(get) => match self.value(&get.subscript_expr) {
                Ok(key) => (&get.expr, key),
                Err(cause) => return cause,
            },
            Expr::Filter(filter) => return error(format!("filter `{}` found nothing", filter.name)),
            Expr::IfExpr(choice) => {
                let holds = self.value(&choice.test_expr).is_ok_and(|test| test.is_true());
                return match (&choice.true_expr, &choice.false_expr) {
                    (chosen, _) if holds => self.missing(chosen),
                    (_, Some(chosen)) => self.missing(chosen),
                    _ => error("it has no value"),
                };
            }
            _ => return error("it has no value"),
        };
        let key = named(&key);
        match self.any(base) {
            Err(cause) => cause,
            Ok(value) if value.is_undefined() => self.missing(base),
            Ok(value) => {
                let base = written(base).map_or_else(|| "the value".to_owned(), |base| format!("`{base}`"));
                match value.kind() {
                    ValueKind::None => error(format!("{base} is null and has no {key}")),
                    _ => error(format!("{base} has no {key}")),
                }
            }
        }
    }
}

/// The reason of an error in one fragment.
pub(super) fn reason(cause: &Error) -> String {
    cause.detail().map_or_else(|| cause.kind().to_string(), str::to_owned)
}

/// Order between unlike values would be arbitrary, and `'10' > 3` is nearly always a mistake.
fn ordered(left: &Value, right: &Value, holds: fn(Ordering) -> bool) -> Result<Value, Error> {
    if left.kind() != right.kind() {
        return Err(error(format!("values of type {} and {} have no order", left.kind(), right.kind())));
    }
    Ok(Value::from(left.partial_cmp(right).is_some_and(holds)))
}

/// Arithmetic is `MiniJinja`'s: one compiled expression for each operator.
fn calculate(op: BinOpKind, left: Value, right: Value) -> Result<Value, Error> {
    const OPERATORS: [&str; 7] = ["a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "a ** b"];
    static COMPILED: OnceLock<Vec<Expression<'static, 'static>>> = OnceLock::new();
    let at = match op {
        BinOpKind::Add => 0,
        BinOpKind::Sub => 1,
        BinOpKind::Mul => 2,
        BinOpKind::Div => 3,
        BinOpKind::FloorDiv => 4,
        BinOpKind::Rem => 5,
        _ => 6,
    };
    COMPILED
        .get_or_init(|| OPERATORS.iter().filter_map(|op| environment().compile_expression(op).ok()).collect())
        .get(at)
        .ok_or_else(|| error("there is no such operator"))?
        .eval(Value::from_pairs([("a", left), ("b", right)]))
}
