//! From files to kernels: what a text is, is told by its content, never by its name.
//!
//! The first word decides: `kernel` and `allocated` begin fatpoint's own text, a word with a dot PTX. Neither is tried
//! after the other failed: an error is reported by the reader whose language the text is in.

use super::diagnostic::Diagnostic;
use super::launch::find_arch;
use fatpoint_frontends::ptx::{self, ast::Module, LowerOptions};
use fatpoint_ir::text::{self, AllocatedParts};
use fatpoint_ir::verify::{self, verify};
use fatpoint_ir::{Function, VerifiedFunction, VerifyError};
use fatpoint_targets::Arch;
use std::io::Read;
use std::path::Path;

/// Bytes read of one input; both readers refuse longer texts.
const MAX_BYTES: u64 = u32::MAX as u64;

/// A text and where it came from.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name in messages: the path as given, `<stdin>` for standard input.
    pub name: String,
    /// The text; bytes that are not UTF-8 are replaced, see [`Source::invalid`].
    pub text: String,
    /// Position of the first byte that was not UTF-8 text: no reader takes such a source.
    pub invalid: Option<usize>,
}

impl Source {
    /// A text under a name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), invalid: None }
    }

    fn from_bytes(name: String, bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self { name, text, invalid: None },
            Err(e) => {
                let at = e.utf8_error().valid_up_to();
                Self { name, text: String::from_utf8_lossy(e.as_bytes()).into_owned(), invalid: Some(at) }
            }
        }
    }
}

/// Reads a file.
///
/// # Errors
/// What the system says, in words.
pub fn load(path: &Path) -> Result<Source, Diagnostic> {
    let name = path.display().to_string();
    let refuse = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => Diagnostic::error("no such file"),
        std::io::ErrorKind::IsADirectory => Diagnostic::error("is a directory, not a file"),
        _ => Diagnostic::error(format!("cannot be read: {e}")),
    };
    let file = std::fs::File::open(path).map_err(refuse)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(refuse)?;
    Ok(Source::from_bytes(name, bytes))
}

/// Reads standard input to its end.
///
/// # Errors
/// What the system says, in words.
pub fn stdin() -> Result<Source, Diagnostic> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|e| Diagnostic::error(format!("cannot be read: {e}")))?;
    Ok(Source::from_bytes("<stdin>".into(), bytes))
}

/// A text that was read.
pub enum Input {
    /// PTX, with its text for notes.
    Ptx(Module, String),
    /// Kernels in fatpoint's own text.
    Ir(Vec<Function>),
    /// Kernels with their registers, as `alloc --emit text` prints them.
    Allocated(Vec<(Function, AllocatedParts)>),
}

impl Input {
    /// The architecture that a PTX file names.
    fn ptx_target(module: &Module) -> Option<&str> {
        module.target.first().map(String::as_str)
    }
}

/// Reads a text.
///
/// # Errors
/// Every error of its reader; a text that is neither PTX nor fatpoint's own, or has no kernel.
pub fn read(source: &Source) -> Result<Input, Vec<Diagnostic>> {
    let text = source.text.as_str();
    if let Some(at) = source.invalid {
        let e = Diagnostic::error("the text is not UTF-8").at(text, at, at + 1);
        return Err(vec![e.hint("PTX and fatpoint's own text are plain text; a cubin or object file cannot be read")]);
    }
    let ir = |errors: Vec<text::TextError>| errors.iter().map(Diagnostic::from).collect::<Vec<_>>();
    let input = match language(text)? {
        Language::Ptx => {
            let module = ptx::parse(text).map_err(|e| e.iter().map(Diagnostic::from).collect::<Vec<_>>())?;
            Input::Ptx(module, source.text.clone())
        }
        Language::Ir => Input::Ir(text::parse(text).map_err(ir)?),
        Language::Allocated => Input::Allocated(text::parse_allocated(text).map_err(ir)?),
    };
    let empty = match &input {
        Input::Ptx(m, _) => m.kernels().next().is_none(),
        Input::Ir(k) => k.is_empty(),
        Input::Allocated(k) => k.is_empty(),
    };
    if empty {
        let e = Diagnostic::error("there is no kernel in it");
        return Err(vec![e.hint("a kernel of PTX is an `.entry` with a body")]);
    }
    Ok(input)
}

enum Language {
    Ptx,
    Ir,
    Allocated,
}

/// What the first word says. Comments of both languages are passed over.
fn language(text: &str) -> Result<Language, Vec<Diagnostic>> {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        at += rest.len() - trimmed.len();
        if trimmed.starts_with("//") || trimmed.starts_with(';') || trimmed.starts_with('#') {
            at += trimmed.find('\n').unwrap_or(trimmed.len());
        } else if trimmed.starts_with("/*") {
            match trimmed.find("*/") {
                Some(p) => at += p + 2,
                // The reader of PTX says that the comment does not end.
                None => return Ok(Language::Ptx),
            }
        } else {
            break;
        }
    }
    let rest = &text[at..];
    let word_len = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    match &rest[..word_len] {
        "kernel" => return Ok(Language::Ir),
        "allocated" => return Ok(Language::Allocated),
        _ if rest.starts_with('.') => return Ok(Language::Ptx),
        _ => {}
    }
    if rest.is_empty() {
        return Err(vec![Diagnostic::error(if text.is_empty() {
            "the file is empty"
        } else {
            "the file has no code"
        })]);
    }
    let hint = if rest.starts_with("\u{7f}ELF") {
        "this is an ELF file; of cubin files only their PTX can be read"
    } else {
        "PTX begins with `.version`, fatpoint's own text with `kernel @name`"
    };
    let end = at + word_len.max(rest.chars().next().map_or(0, char::len_utf8)).min(40);
    Err(vec![Diagnostic::error("this is neither PTX nor fatpoint's own text").at(text, at, end).hint(hint)])
}

/// The language that a kernel was read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// PTX: lines are those of the file.
    Ptx,
    /// fatpoint's own text: lines are those that the text states (`#7`).
    Ir,
}

impl Origin {
    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Ptx => "ptx",
            Origin::Ir => "ir",
        }
    }
}

/// A kernel, ready for every verb.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The program; it keeps every rule of the IR.
    pub func: VerifiedFunction,
    /// Where it came from.
    pub origin: Origin,
    /// How its reader understood what it did not know.
    pub notes: Vec<Diagnostic>,
}

/// A kernel that its reader or the verifier refused.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// Its name.
    pub name: String,
    /// Why.
    pub errors: Vec<Diagnostic>,
}

/// The kernels of an input, each verified. PTX is lowered for `arch`, else for the architecture that it names.
///
/// # Errors
/// The outer error: the architecture that the PTX names is not known. The inner ones are kernels that are refused.
pub fn kernels(input: &Input, arch: Option<&'static Arch>) -> Result<Vec<Result<Kernel, Rejected>>, Diagnostic> {
    match input {
        Input::Ptx(module, text) => {
            let arch = find_arch(arch, Input::ptx_target(module))?;
            let options = LowerOptions { param_base: arch.param_base().0, ntid_offset: arch.ntid_offset().0 };
            Ok(ptx::lower(module, &options)
                .into_iter()
                .map(|k| match k {
                    Ok(k) => {
                        let notes = k.notes.iter().map(|n| Diagnostic::note(text, n)).collect();
                        let mut func = k.func;
                        func.attrs.target.get_or_insert_with(|| arch.name().to_string());
                        verified(func, Origin::Ptx, notes, Some(text))
                    }
                    Err(f) => {
                        let errors = f.errors.iter().map(|e| Diagnostic::from(e).of_kernel(&f.name)).collect();
                        Err(Rejected { name: f.name, errors })
                    }
                })
                .collect())
        }
        Input::Ir(functions) => {
            Ok(functions.iter().map(|f| verified(f.clone(), Origin::Ir, Vec::new(), None)).collect())
        }
        Input::Allocated(list) => {
            Ok(list.iter().map(|(f, _)| verified(f.clone(), Origin::Ir, Vec::new(), None)).collect())
        }
    }
}

fn verified(func: Function, origin: Origin, notes: Vec<Diagnostic>, text: Option<&str>) -> Result<Kernel, Rejected> {
    let name = func.name.clone();
    match verify(func) {
        Ok(func) => Ok(Kernel { func, origin, notes }),
        Err(errors) => Err(rejected(name, &errors, text)),
    }
}

/// Refuses a function that breaks a rule of the IR.
pub(super) fn check_rules(func: &Function) -> Result<(), Rejected> {
    let errors = verify::check(func);
    if errors.is_empty() {
        Ok(())
    } else {
        Err(rejected(func.name.clone(), &errors, None))
    }
}

/// The broken rules as diagnostics; with the PTX that the function was made from they point at its lines.
fn rejected(name: String, errors: &[VerifyError], text: Option<&str>) -> Rejected {
    let one = |e: &VerifyError| {
        let d = Diagnostic::error(e.to_string()).of_kernel(&name);
        let line = e.line.checked_sub(1).and_then(|n| text?.lines().nth(n as usize));
        match (text, line) {
            (Some(text), Some(line)) => {
                let start = line.as_ptr() as usize - text.as_ptr() as usize;
                d.at(text, start + (line.len() - line.trim_start().len()), start + line.len())
            }
            _ => d,
        }
    };
    let mut list: Vec<Diagnostic> = errors.iter().map(one).collect();
    // Two lanes of one operand break a rule in the same words.
    list.dedup();
    Rejected { errors: list, name }
}
