//! A script in an engine of its own.

use std::cell::Cell;
use std::ffi::CString;
use std::path::Path;
use std::rc::Rc;

use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::function::Func;
use rquickjs::{Context, Ctx, Function, Module, Object, Persistent, Runtime, Value, qjs};

use crate::objects::Builder;

/// Memory limit for a script and everything it creates, in bytes.
pub const MEMORY: usize = 128 << 20;
/// How deep calls may go, in bytes of stack; less if the system provides little.
const STACK: usize = 1 << 20;

// The clock of a script counts what it does. Each function call and each jump (a loop iteration has two) takes one from
// a counter of the engine, and when 10,000 are used up the engine asks whether to go on: that is one millisecond. So a
// search bounded by the clock ends, and the same script behaves the same on every machine. The number is the engine's
// own: if another version counts differently, a test fails; `docs/scripts.md` documents it for authors.

/// The parts of the language: everything except what exposes memory.
type Language = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// A loaded script that can be called.
pub struct Engine {
    // In the order in which they must be dropped.
    builder: Builder,
    call: Persistent<Function<'static>>,
    finish: Persistent<Function<'static>>,
    context: Context,
    runtime: Runtime,
}

/// An answer to a question.
pub struct Answered {
    pub line: String,
    /// Whether the script has used up its memory and should start afresh.
    pub exhausted: bool,
}

impl Engine {
    /// Loads the script `source`, the text of the file at `path`. `print` shows what it writes to the console.
    ///
    /// # Errors
    /// A sentence for the script's author.
    pub fn load(
        path: &Path,
        source: &str,
        seed: &str,
        print: impl Fn(&str) + 'static,
    ) -> Result<Self, String> {
        let failed = |error: rquickjs::Error| format!("the engine does not start: {error}");
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(MEMORY);
        runtime.set_max_stack_size(stack_size());
        let ticks = Rc::new(Cell::new(0_u32));
        let (counted, started) = (Rc::clone(&ticks), Rc::clone(&ticks));
        runtime.set_interrupt_handler(Some(Box::new(move || {
            counted.set(counted.get().saturating_add(1));
            false
        })));
        let context = Context::custom::<Language>(&runtime).map_err(failed)?;
        let loaded = context.with(|context| {
            let host: Function<'_> =
                evaluate(&context, agon_bot::script::HOST, "host").map_err(|why| why.to_string())?;
            let print = Func::from(move |text: String| print(&text));
            let clock = Func::from(move || ticks.get());
            let host: Object<'_> = host.call((print, seed, clock)).map_err(|error| error.to_string())?;
            // The engine asks for the first time right away.
            started.set(0);
            find_script(&context, &host, path, source)?;
            let function = |name: &str| {
                let function: Function<'_> = host.get(name).map_err(|error| error.to_string())?;
                Ok::<_, String>(Persistent::save(&context, function))
            };
            // SAFETY: the builder is dropped before the context that it lies beside.
            let builder = unsafe { Builder::new(&context) };
            Ok::<_, String>((builder, function("call")?, function("finish")?))
        });
        let (builder, call, finish) = loaded?;
        Ok(Self { builder, call, finish, context, runtime })
    }

    pub fn answer(&mut self, question: &[u8]) -> Answered {
        let Self { builder, call, finish, context, .. } = self;
        let line = context.with(|context| {
            let (phase, input) =
                builder.question(&context, question).inspect_err(|_| drop(context.catch()))?;
            let run = || {
                call.clone().restore(&context)?.call::<_, ()>((phase, input))?;
                run_jobs(&context);
                finish.clone().restore(&context)?.call::<_, String>(())
            };
            run().map_err(|error| thrown(&context, &error))
        });
        match line {
            Ok(line) if !line.starts_with("{\"failed\"") => Answered { line, exhausted: false },
            Ok(line) => Answered { line, exhausted: self.exhausted() },
            // Not even the failure could be reported.
            Err(why) => Answered { line: failure(&format!("the script failed: {why}")), exhausted: true },
        }
    }

    /// Whether objects the script still holds take up most of its memory.
    fn exhausted(&self) -> bool {
        self.runtime.run_gc();
        self.runtime.memory_usage().malloc_size > (MEMORY / 4 * 3) as i64
    }
}

/// The line that reports a failure.
pub fn failure(why: &str) -> String {
    serde_json::json!({ "failed": why }).to_string()
}

/// Runs what the script has deferred: whatever follows an `await`. Exceptions there are nobody's result.
fn run_jobs(context: &Ctx<'_>) {
    while context.execute_pending_job() {}
}

fn evaluate<'js, V: rquickjs::FromJs<'js>>(
    context: &Ctx<'js>,
    source: &str,
    name: &str,
) -> rquickjs::Result<V> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(name.to_owned());
    context.eval_with_options(source, options)
}

/// The exception in a line, if the script's own world could not express it.
fn thrown(context: &Ctx<'_>, error: &rquickjs::Error) -> String {
    if !error.is_exception() {
        return error.to_string();
    }
    let message = context.catch().as_exception().and_then(rquickjs::Exception::message);
    message.filter(|message| !message.is_empty()).unwrap_or_else(|| "out of memory".to_owned())
}

/// Runs the file, and has the host look for the script in what the file defined.
fn find_script<'js>(context: &Ctx<'js>, host: &Object<'js>, path: &Path, source: &str) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let run = || -> rquickjs::Result<Result<Option<String>, String>> {
        let find: Function<'_> = host.get("find")?;
        if let Some(module) = module(context, path, source)? {
            let (module, done) = module.eval()?;
            run_jobs(context);
            return match done.result::<()>() {
                None => Ok(Err("it waits for a promise that never settles".to_owned())),
                Some(done) => done.and_then(|()| find.call((module.namespace()?,))).map(Ok),
            };
        }
        let module: Object<'_> = host.get::<_, Function<'_>>("commonJs")?.call(())?;
        evaluate::<Value<'_>>(context, source, &name)?;
        run_jobs(context);
        let variable: Value<'_> =
            evaluate(context, "typeof script === 'undefined' ? undefined : script", "host")?;
        find.call((module.get::<_, Value<'_>>("exports")?, variable)).map(Ok)
    };
    match run() {
        Ok(Ok(missing)) => missing.map_or(Ok(()), Err),
        Ok(Err(why)) => Err(why),
        Err(rquickjs::Error::Exception) => {
            let exception = context.catch();
            let described =
                host.get::<_, Function<'_>>("describe").and_then(|describe| describe.call((exception,)));
            let why: String = described.unwrap_or_else(|error| thrown(context, &error));
            let alone = why.contains("could not load module");
            Err(if alone { format!("{why}; a script is one file, so bundle what it imports") } else { why })
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The file as an ES module; none if it is a classic script.
///
/// The ending decides, or else which of the two it parses as. A file that parses as neither is taken for what it seems
/// to want to be, so that the error reported is its own and not one of the other form.
fn module<'js>(context: &Ctx<'js>, path: &Path, source: &str) -> rquickjs::Result<Option<Module<'js>>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ending = path.extension().and_then(|ending| ending.to_str());
    if ending == Some("cjs") || (ending != Some("mjs") && is_classic(context, source)?) {
        return Ok(None);
    }
    match Module::declare(context.clone(), &*name, source) {
        Err(rquickjs::Error::Exception) if ending != Some("mjs") && !speaks_of_modules(source) => {
            drop(context.catch());
            Ok(None)
        }
        declared => declared.map(Some),
    }
}

/// Whether the engine can parse this as a classic script. Nothing is run.
fn is_classic(context: &Ctx<'_>, source: &str) -> rquickjs::Result<bool> {
    let text = CString::new(source)?;
    let flags = (qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY) as i32;
    let pointer = context.as_raw().as_ptr();
    // SAFETY: the text ends with a zero byte that its length leaves out, and the context lives.
    let compiled =
        unsafe { qjs::JS_Eval(pointer, text.as_ptr(), source.len() as _, c"script".as_ptr(), flags) };
    // SAFETY: it is ours, and freed once.
    let fits = unsafe {
        let fits = !qjs::JS_IsException(compiled);
        qjs::JS_FreeValue(pointer, compiled);
        fits
    };
    if !fits {
        drop(context.catch());
    }
    Ok(fits)
}

/// Whether a line begins with `import` or `export`.
fn speaks_of_modules(source: &str) -> bool {
    source.lines().any(|line| {
        ["import", "export"].iter().any(|word| {
            let rest = line.trim_start().strip_prefix(word);
            rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
        })
    })
}

/// How much of the stack calls may use.
fn stack_size() -> usize {
    let given = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    given.map_or(STACK, |given| STACK.min((given / 2) as usize))
}
