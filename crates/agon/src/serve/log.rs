//! What a server that runs says of itself: notes for whoever sits before it, or lines of JSON for a machine that collects them.

use std::fmt;

use clap::ValueEnum;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, Layer};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The form of the log, on standard error.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Log {
    /// Only what should not be, each as a note
    #[default]
    Text,
    /// A line of JSON for each request and for all that happens
    Json,
}

impl Log {
    /// From now on it is written like this. Called once, before anything is said.
    pub fn begin(self) {
        // Of others only what goes wrong: the driver of the database names statements that are slow.
        let others = tracing_subscriber::filter::LevelFilter::WARN;
        // It fails only where somebody was quicker.
        let _ = match self {
            Self::Text => {
                let own = Targets::new().with_target("agon", Level::WARN);
                let notes = Layer::new().event_format(Notes).with_writer(std::io::stderr);
                tracing_subscriber::registry().with(notes).with(own).try_init()
            }
            Self::Json => {
                let all = Targets::new().with_default(others).with_target("agon", Level::INFO);
                let lines = Layer::new().json().flatten_event(true).with_writer(std::io::stderr);
                tracing_subscriber::registry().with(lines).with(all).try_init()
            }
        };
    }
}

/// `note: what happened`.
struct Notes;

impl<S: Subscriber + for<'a> LookupSpan<'a>, N: for<'a> FormatFields<'a> + 'static> FormatEvent<S, N>
    for Notes
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        write!(writer, "note: ")?;
        context.field_format().format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}
