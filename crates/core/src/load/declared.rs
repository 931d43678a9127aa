//! Parameters and schedules: what a file declares about its start.

use indexmap::IndexMap;

use super::level::Checker;
use super::trail::Trail;
use crate::codes::Code;
use crate::file::{Param, ParamName, Schedule};
use crate::suggest;

/// Checks the types, choices and defaults of parameters.
pub(super) fn check_params(checker: &mut Checker<'_, '_, '_>, trail: &Trail<'_>, params: &IndexMap<ParamName, Param>) {
    for (name, param) in params {
        let trail = trail.key(name.as_str());
        let choices = param.choices.as_deref().unwrap_or_default();
        for (at, choice) in choices.iter().enumerate() {
            if !param.kind.fits(&choice.0) {
                let message = format!("this choice is not {}", param.kind.described());
                checker.problems.at(
                    Code::WRONG_TYPE,
                    &trail.key("enum").index(at),
                    message,
                    "change it, or the `type`",
                );
            }
        }
        if param.choices.as_ref().is_some_and(Vec::is_empty) {
            checker.invalid(&trail.key("enum"), "`enum` allows nothing", "name the values, or remove it");
        }
        let Some(default) = &param.default else { continue };
        if !param.kind.fits(&default.0) {
            let message = format!("the default of `{name}` is not {}", param.kind.described());
            checker.problems.at(Code::WRONG_TYPE, &trail.key("default"), message, "change it, or the `type`");
        } else if !choices.is_empty() && !choices.contains(default) {
            let message = format!("the default of `{name}` is not one of its choices");
            checker.invalid(&trail.key("default"), message, "add it to `enum`, or choose another one");
        }
    }
}

/// Checks when a workflow starts by itself.
pub(super) fn check_schedule(checker: &mut Checker<'_, '_, '_>, trail: &Trail<'_>, schedule: &Schedule) {
    if schedule.cron.parse::<croner::Cron>().is_err() {
        let help = "five fields: minute hour day month weekday, such as `0 6 * * 1-5`";
        checker.invalid(&trail.key("cron"), format!("`{}` is not a cron expression", schedule.cron), help);
    }
    if let Some(zone) = &schedule.timezone {
        let zones = jiff::tz::TimeZoneDatabase::bundled();
        if zones.get(zone).is_err() {
            let names: Vec<String> = zones.available().map(|name| name.as_str().to_owned()).collect();
            let help = suggest::did_you_mean(zone, names.iter().map(String::as_str))
                .unwrap_or_else(|| "write an IANA name such as `Europe/Berlin`".into());
            checker.invalid(&trail.key("timezone"), format!("there is no time zone `{zone}`"), help);
        }
    }
}
