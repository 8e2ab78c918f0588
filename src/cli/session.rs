//! One call of the command: where its output goes, what has failed, and its inputs.
//!
//! Output is collected and written once. Diagnostics go to standard error at once, so that they stand in order with
//! those of a crash; neither ever panics when its reader is gone.

use super::{Color, Format, Global};
use crate::driver::{self, Diagnostic, Input, Kernel, Rejected, Severity, Source};
use crate::render::diagnostics::{diagnostic, diagnostics};
use crate::render::style::Style;
use crate::render::FailureJson;
use clap::Args;
use fatpoint_targets::Arch;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How a call ends, the gravest last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Exit {
    Done,
    Infeasible,
    BadInput,
    CheckFailed,
}

impl Exit {
    const fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::CheckFailed => 1,
            Exit::BadInput => 2,
            Exit::Infeasible => 3,
        }
    }
}

/// Inputs of the verbs that read programs.
#[derive(Args, Debug)]
pub(super) struct Files {
    /// Programs; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// These kernels alone
    #[arg(long = "kernel", value_name = "NAME")]
    pub kernels: Vec<String>,
}

/// A file that was read.
pub(super) struct Opened {
    pub source: Source,
    pub input: Input,
}

/// A kernel with the name of its source.
pub(super) struct Item {
    pub source: String,
    pub kernel: Kernel,
}

pub(super) struct Session {
    pub format: Format,
    /// How standard output is marked up.
    pub style: Style,
    /// What failed, for JSON documents.
    pub failures: Vec<FailureJson>,
    out: String,
    error_style: Style,
    quiet: bool,
    timings: bool,
    start: Instant,
    exit: Exit,
}

impl Session {
    pub fn new(global: &Global) -> Self {
        let color = |terminal: bool| match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        };
        let format = if global.json { Format::Json } else { global.format };
        Self {
            format,
            style: Style { color: format == Format::Text && color(std::io::stdout().is_terminal()) },
            error_style: Style { color: color(std::io::stderr().is_terminal()) },
            failures: Vec::new(),
            out: String::new(),
            quiet: global.quiet,
            timings: global.timings,
            start: Instant::now(),
            exit: Exit::Done,
        }
    }

    /// Adds to standard output.
    pub fn print(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Notes how the call ends; the gravest end counts.
    pub fn end(&mut self, exit: Exit) {
        self.exit = self.exit.max(exit);
    }

    fn warn_text(&mut self, text: &str) {
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }

    /// Prints a diagnostic that is not about a text.
    pub fn say(&mut self, name: &str, d: &Diagnostic) {
        if d.severity == Severity::Error || !self.quiet {
            let text = diagnostic(d, name, "", self.error_style);
            self.warn_text(&text);
        }
    }

    /// Prints an error of usage, and ends the call as such.
    pub fn usage(&mut self, message: impl Into<String>, hint: &str) {
        self.say("fatpoint", &Diagnostic::error(message).hint(hint));
        self.end(Exit::BadInput);
    }

    /// True when the format is one of these; else it is refused.
    pub fn accepts(&mut self, formats: &[Format]) -> bool {
        if formats.contains(&self.format) {
            return true;
        }
        let name = |f: Format| match f {
            Format::Text => "text",
            Format::Json => "json",
            Format::Csv => "csv",
            Format::Ptxas => "ptxas",
        };
        let list: Vec<&str> = formats.iter().map(|f| name(*f)).collect();
        let message = format!("this verb has no output in the format '{}'", name(self.format));
        self.usage(message, &format!("it has {}", list.join(", ")));
        false
    }

    /// Time of a stage.
    pub fn timing(&mut self, stage: &str, time: Duration) {
        if self.timings {
            self.warn_text(&format!("time: {:>10.3} ms  {stage}\n", time.as_secs_f64() * 1e3));
        }
    }

    /// Records what is wrong with an input, or with a kernel of it.
    pub fn reject(&mut self, source: &Source, name: &str, errors: &[Diagnostic]) {
        let list: Vec<Diagnostic> =
            errors.iter().filter(|d| d.severity == Severity::Error || !self.quiet).cloned().collect();
        let text = diagnostics(&list, source, self.error_style);
        self.warn_text(&text);
        let message = |d: &Diagnostic| match d.place {
            Some(p) => format!("{}:{}:{}: {}", source.name, p.line, p.column, d.message),
            None => d.message.clone(),
        };
        for d in errors.iter().filter(|d| d.severity == Severity::Error) {
            self.failures.push(FailureJson { name: name.to_string(), error: message(d) });
        }
        self.end(Exit::BadInput);
    }

    /// Records a kernel that could be read and not be handled.
    pub fn fail(&mut self, source: &str, kernel: &str, why: Diagnostic, exit: Exit) {
        self.failures.push(FailureJson { name: kernel.to_string(), error: why.message.clone() });
        self.say(source, &why.of_kernel(kernel));
        self.end(exit);
    }

    /// Prints what speaks against a kernel's launch.
    pub fn remarks(&mut self, source: &str, kernel: &str, remarks: &[driver::Remark]) {
        for r in remarks {
            self.say(source, &Diagnostic::warning(r.message.clone()).of_kernel(kernel));
        }
    }

    /// Reads all files; what cannot be read is reported and left out.
    pub fn open(&mut self, files: &[PathBuf]) -> Vec<Opened> {
        let mut out = Vec::new();
        for path in files {
            let start = Instant::now();
            let dash = path.as_path() == Path::new("-");
            let loaded = if dash { driver::stdin() } else { driver::load(path) };
            let source = match loaded {
                Ok(s) => s,
                Err(d) => {
                    let name = if dash { "<stdin>".to_string() } else { path.display().to_string() };
                    self.reject(&Source::new(name.clone(), ""), &name, &[d]);
                    continue;
                }
            };
            match driver::read(&source) {
                Ok(input) => out.push(Opened { source, input }),
                Err(errors) => self.reject(&source, &source.name, &errors),
            }
            self.timing(&format!("read {}", path.display()), start.elapsed());
        }
        out
    }

    /// The kernels of an input, those asked for; what is refused is reported.
    pub fn kernels(
        &mut self,
        opened: &Opened,
        arch: Option<&'static Arch>,
        wanted: &[String],
    ) -> Vec<Result<Kernel, Rejected>> {
        let list = match driver::kernels(&opened.input, arch) {
            Ok(list) => list,
            Err(d) => {
                self.reject(&opened.source, &opened.source.name, &[d]);
                return Vec::new();
            }
        };
        let name = |k: &Result<Kernel, Rejected>| match k {
            Ok(k) => k.func.name.clone(),
            Err(r) => r.name.clone(),
        };
        list.into_iter().filter(|k| wanted.is_empty() || wanted.contains(&name(k))).collect()
    }

    /// All kernels asked for that can be handled, of all files; everything else is reported.
    pub fn items(&mut self, files: &Files, arch: Option<&'static Arch>) -> Vec<Item> {
        let opened = self.open(&files.files);
        let mut out = Vec::new();
        let mut missing = files.kernels.clone();
        for o in &opened {
            let start = Instant::now();
            for kernel in self.kernels(o, arch, &files.kernels) {
                match kernel {
                    Ok(kernel) => {
                        missing.retain(|n| *n != kernel.func.name);
                        if !self.quiet {
                            let text = diagnostics(&kernel.notes, &o.source, self.error_style);
                            self.warn_text(&text);
                        }
                        out.push(Item { source: o.source.name.clone(), kernel });
                    }
                    Err(r) => {
                        missing.retain(|n| *n != r.name);
                        self.reject(&o.source, &r.name, &r.errors);
                    }
                }
            }
            self.timing(&format!("translate {}", o.source.name), start.elapsed());
        }
        self.missing(&missing, &opened);
        out
    }

    /// Reports kernels that were asked for and are in no file.
    pub fn missing(&mut self, names: &[String], opened: &[Opened]) {
        if names.is_empty() || opened.is_empty() {
            return;
        }
        let mut known: Vec<String> = Vec::new();
        for o in opened {
            match &o.input {
                Input::Ptx(m, _) => known.extend(m.kernels().map(|k| k.name.clone())),
                Input::Ir(k) => known.extend(k.iter().map(|f| f.name.clone())),
                Input::Allocated(k) => known.extend(k.iter().map(|f| f.0.name.clone())),
            }
        }
        let more = known.len().saturating_sub(8);
        known.truncate(8);
        let hint = match more {
            0 => format!("there are: {}", known.join(", ")),
            n => format!("there are: {} and {n} more", known.join(", ")),
        };
        for name in names {
            self.usage(format!("no kernel is named '{name}'"), &hint);
            self.failures.push(FailureJson { name: name.clone(), error: "no kernel has this name".into() });
        }
    }

    /// Writes the output and ends the call.
    pub fn finish(mut self) -> ExitCode {
        let mut stdout = std::io::stdout().lock();
        if let Err(e) = stdout.write_all(self.out.as_bytes()).and_then(|()| stdout.flush()) {
            // Whoever closed the pipe has seen enough.
            if e.kind() != std::io::ErrorKind::BrokenPipe {
                self.say("fatpoint", &Diagnostic::error(format!("the output cannot be written: {e}")));
                self.end(Exit::BadInput);
            }
        }
        let total = self.start.elapsed();
        self.timing("in all", total);
        ExitCode::from(self.exit.code())
    }
}
