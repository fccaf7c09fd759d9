//! What a running server logs: notes for whoever sits in front of it, or lines of JSON for a collector.

use std::fmt;
use std::io::{self, Write};

use clap::ValueEnum;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, Layer};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::common::screen::harmless_json;

/// The form of the log, on standard error.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Log {
    /// Only problems, each as a note
    #[default]
    Text,
    /// A line of JSON for each request and each event
    Json,
}

impl Log {
    /// Writes the log in this form from now on. Called once, before anything is logged.
    pub fn begin(self) {
        // Only problems from other crates: the database driver reports slow statements.
        let others = tracing_subscriber::filter::LevelFilter::WARN;
        // This fails only if a subscriber is set already.
        let _ = match self {
            Self::Text => {
                let own = Targets::new().with_target("agon", Level::WARN);
                let notes = Layer::new().event_format(Notes).with_writer(std::io::stderr);
                tracing_subscriber::registry().with(notes).with(own).try_init()
            }
            Self::Json => {
                let all = Targets::new().with_default(others).with_target("agon", Level::INFO);
                let lines = Layer::new().json().flatten_event(true).with_writer(|| Lines);
                tracing_subscriber::registry().with(lines).with(all).try_init()
            }
        };
    }
}

/// Standard error, for lines of JSON; each is one write.
struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(harmless_json(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
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
