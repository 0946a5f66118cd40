//! The types of the compiled Python module, `_native.pyi`, written from the Rust code that is compiled.
//!
//! Names, arguments and results are those of the exported functions and classes. Types of Rust have their Python type
//! here; the crate's own are looked up where they are declared: tuple structs and enums that are read from Python are tuples
//! and unions, structs that are read by item are the `TypedDict` of the same name, and an alias may say in its documentation
//! what Rust's type does not: a line ``Python: `NDArray[np.float64]` ``.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use syn::{Attribute, Expr, Fields, FnArg, ImplItem, Item, Lit, Meta, Pat, ReturnType, Signature, Type, UseTree};

use crate::python;
use crate::workspace::Workspace;

const SOURCES: &str = "python/src";
const STUB: &str = "python/py_src/sparsemble/_native.pyi";
/// The dictionaries that go in and out.
const DICTIONARIES: &str = "python/py_src/sparsemble/_parameters.py";

/// What the module sets itself, which no signature tells; stubtest finds what is missing here.
const CONSTANTS: [(&str, &str); 2] = [("TOLERANCE", "float"), ("__version__", "str")];

const HEADER: &str = "\
\"\"\"The compiled half of the package; its interface may change at any time.

Written by `cargo xtask stubs` from `python/src`; do not edit.
\"\"\"

from collections.abc import Callable
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
";

/// Writes the stub.
pub(crate) fn write(workspace: &Workspace) -> Result<()> {
    Ok(std::fs::write(workspace.path(STUB), stub(workspace)?)?)
}

/// Fails if the stub is not what would be written.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    ensure!(
        workspace.read(STUB)? == stub(workspace)?,
        "{STUB} is not what {SOURCES} says; run `cargo xtask stubs` and read the difference"
    );
    Ok(())
}

/// The stub as it should be, laid out as all Python code is.
fn stub(workspace: &Workspace) -> Result<String> {
    let mut sources = Vec::new();
    for path in workspace.files(SOURCES, "rs")? {
        let file = syn::parse_file(&workspace.read(&path)?).with_context(|| path.display().to_string())?;
        sources.push(file);
    }
    let dictionaries = workspace.read(DICTIONARIES)?;
    formatted(workspace, &Crate::new(&sources, &dictionaries).stub()?)
}

fn formatted(workspace: &Workspace, code: &str) -> Result<String> {
    let venv = python::environment(workspace)?;
    let mut ruff = venv.python(&workspace.path("python"));
    ruff.args(["-m", "ruff", "format", "--no-cache", "--stdin-filename", "_native.pyi", "-"]);
    let mut ruff = ruff.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("running ruff")?;
    ruff.stdin.take().context("ruff has no input")?.write_all(code.as_bytes())?;
    let output = ruff.wait_with_output()?;
    ensure!(output.status.success(), "ruff cannot format what was made of {SOURCES}:\n{code}");
    Ok(String::from_utf8(output.stdout)?)
}

/// The binding, item by item.
struct Crate<'a> {
    items: BTreeMap<String, &'a Item>,
    /// The methods of each class that Python sees, in their order.
    methods: BTreeMap<String, Vec<&'a ImplItem>>,
    /// What the module exports, in its order.
    exported: Vec<String>,
    /// The names of the `TypedDict`s.
    dictionaries: BTreeSet<String>,
}

impl<'a> Crate<'a> {
    fn new(sources: &'a [syn::File], dictionaries: &str) -> Self {
        let classes = dictionaries.lines().filter_map(|line| line.strip_prefix("class ")?.split_once('('));
        let dictionaries = classes.map(|(name, _)| name.to_owned()).collect();
        let mut found = Self { items: BTreeMap::new(), methods: BTreeMap::new(), exported: Vec::new(), dictionaries };
        for item in sources.iter().flat_map(|file| &file.items) {
            match item {
                Item::Fn(function) if has(&function.attrs, "pyfunction") => found.keep(&function.sig.ident, item),
                Item::Struct(own) => found.keep(&own.ident, item),
                Item::Enum(own) => found.keep(&own.ident, item),
                Item::Type(alias) => found.keep(&alias.ident, item),
                Item::Impl(block) if has(&block.attrs, "pymethods") => {
                    if let Some(name) = last_name(&block.self_ty) {
                        found.methods.entry(name).or_default().extend(&block.items);
                    }
                }
                Item::Mod(module) if has(&module.attrs, "pymodule") => {
                    for item in module.content.iter().flat_map(|(_, items)| items) {
                        if let Item::Use(import) = item
                            && has(&import.attrs, "pymodule_export")
                        {
                            leaves(&import.tree, &mut found.exported);
                        }
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// What Python reads has a name of its own in the crate; others may be enums of the same name, which it never meets.
    fn keep(&mut self, name: &syn::Ident, item: &'a Item) {
        let is_seen = |item: &Item| match item {
            Item::Struct(own) => has(&own.attrs, "pyclass") || derives_from_python(&own.attrs),
            Item::Enum(own) => derives_from_python(&own.attrs),
            _ => true,
        };
        if is_seen(item) {
            self.items.insert(name.to_string(), item);
        }
    }

    fn stub(&self) -> Result<String> {
        let mut used = Used::default();
        let mut body = String::new();
        for name in &self.exported {
            let item = self.items.get(name).with_context(|| format!("{name} is exported but not in {SOURCES}"))?;
            match item {
                Item::Fn(function) => {
                    body += &self.function(&function.sig, &function.attrs, None, &mut used)?;
                }
                Item::Struct(class) => body += &self.class(name, &class.attrs, &mut used)?,
                _ => bail!("{name} is exported but is neither a function nor a class"),
            }
            body += "\n";
        }
        let mut names: Vec<&str> = self.exported.iter().map(String::as_str).collect();
        names.extend(CONSTANTS.map(|(name, _)| name));
        // Constants, classes, functions, as ruff wants it.
        let is_constant = |name: &str| name.chars().all(|letter| letter.is_uppercase() || letter == '_');
        names.sort_by_key(|name| (!is_constant(name), *name));
        let imported = used.dictionaries.into_iter().collect::<Vec<_>>().join(", ");
        let all = names.iter().map(|name| format!("    {name:?},\n")).collect::<Vec<_>>().concat();
        let constants = CONSTANTS.map(|(name, of)| format!("{name}: {of}\n")).concat();
        let aliases = used.aliases.concat();
        let imports = format!("{HEADER}\nfrom sparsemble._parameters import {imported}\n");
        Ok(format!("{imports}\n__all__ = [\n{all}]\n\n{constants}\n{aliases}\n{body}"))
    }

    fn class(&self, name: &str, attributes: &[Attribute], used: &mut Used) -> Result<String> {
        let mut text = format!("@final\nclass {name}:\n    {}\n", docstring(name, attributes)?);
        for item in self.methods.get(name).into_iter().flatten() {
            let ImplItem::Fn(method) = item else { continue };
            let is_new = has(&method.attrs, "new");
            if is_new || !method.sig.ident.to_string().starts_with("__") {
                let lines = self.function(&method.sig, &method.attrs, Some(name), used)?;
                text += "\n";
                text += &lines.lines().map(|line| format!("    {line}\n")).collect::<Vec<_>>().concat();
            }
        }
        Ok(text)
    }

    /// The lines of a function, or of a method of a class.
    fn function(
        &self,
        signature: &Signature,
        attributes: &[Attribute],
        class: Option<&str>,
        used: &mut Used,
    ) -> Result<String> {
        let name = signature.ident.to_string();
        let is_new = has(attributes, "new");
        ensure!(!has(attributes, "pyo3"), "{name}: cargo xtask stubs does not read #[pyo3(…)] of functions yet");
        let mut arguments = if is_new { vec!["cls".to_owned()] } else { Vec::new() };
        for argument in &signature.inputs {
            match argument {
                FnArg::Receiver(_) => arguments.push("self".to_owned()),
                FnArg::Typed(argument) => {
                    let Pat::Ident(own) = &*argument.pat else { bail!("{name}: an argument has no name") };
                    if last_name(&argument.ty).as_deref() != Some("Python") {
                        let of = self.python(&argument.ty, class, used).with_context(|| name.clone())?;
                        arguments.push(format!("{}: {of}", own.ident));
                    }
                }
            }
        }
        let result = match &signature.output {
            ReturnType::Default => "None".to_owned(),
            ReturnType::Type(_, of) => self.python(of, class, used).with_context(|| name.clone())?,
        };
        let decorators = [("staticmethod", "@staticmethod\n"), ("getter", "@property\n")];
        let decorator =
            decorators.iter().find(|(attribute, _)| has(attributes, attribute)).map_or("", |(_, line)| line);
        let python_name = if is_new { "__new__" } else { &name };
        let arguments = arguments.join(", ");
        Ok(format!("{decorator}def {python_name}({arguments}) -> {result}:\n    {}\n", docstring(&name, attributes)?))
    }

    /// The type of Python for one of Rust, in a class if it may be `Self`.
    fn python(&self, of: &Type, class: Option<&str>, used: &mut Used) -> Result<String> {
        let list = |types: &mut dyn Iterator<Item = &Type>, used: &mut Used| {
            types.map(|of| self.python(of, class, used)).collect::<Result<Vec<_>>>().map(|all| all.join(", "))
        };
        match of {
            Type::Reference(to) => self.python(&to.elem, class, used),
            Type::Slice(of) if last_name(&of.elem).as_deref() == Some("u8") => Ok("bytes".to_owned()),
            Type::Array(of) => Ok(format!("list[{}]", self.python(&of.elem, class, used)?)),
            Type::Tuple(of) if of.elems.is_empty() => Ok("None".to_owned()),
            Type::Tuple(of) => Ok(format!("tuple[{}]", list(&mut of.elems.iter(), used)?)),
            Type::Path(path) => {
                let name = last_name(of).unwrap_or_default();
                let inner = arguments(path);
                let inner = inner.first().copied();
                let of_inner = |used: &mut Used| match inner {
                    Some(inner) => self.python(inner, class, used),
                    None => bail!("{name} of what?"),
                };
                Ok(match name.as_str() {
                    "PyResult" | "Bound" | "Py" | "PyRef" => of_inner(used)?,
                    "Option" => format!("{} | None", of_inner(used)?),
                    "Vec" => format!("list[{}]", of_inner(used)?),
                    "Self" => class.context("Self outside of a class")?.to_owned(),
                    "bool" => "bool".to_owned(),
                    "f64" => "float".to_owned(),
                    "usize" | "u64" | "u32" | "i64" => "int".to_owned(),
                    "String" | "str" => "str".to_owned(),
                    "PathBuf" => "str | PathLike[str]".to_owned(),
                    "PyBytes" => "bytes".to_owned(),
                    array if array.starts_with("PyArray") || array.starts_with("PyReadonlyArray") => {
                        format!("NDArray[np.{}]", number(inner.context("an array of what?")?)?)
                    }
                    own => self.own(own, used)?,
                })
            }
            _ => bail!("a type that cargo xtask stubs does not know"),
        }
    }

    /// The type of Python for one that the crate declares.
    fn own(&self, name: &str, used: &mut Used) -> Result<String> {
        let item = self.items.get(name).with_context(|| {
            format!("{name}: its type in Python is not known; use an alias that says it in a line \"Python: `type`\"")
        })?;
        match item {
            Item::Struct(own) if has(&own.attrs, "pyclass") => Ok(name.to_owned()),
            Item::Struct(own) if matches!(own.fields, Fields::Named(_)) => self.dictionary(name, used),
            Item::Type(alias) if said(&alias.attrs).as_deref() == Some(name) => self.dictionary(name, used),
            _ => {
                let own_name = format!("_{name}");
                if used.names.insert(own_name.clone()) {
                    let meaning = self.meaning(item, used).with_context(|| name.to_owned())?;
                    used.aliases.push(format!("{own_name}: TypeAlias = {meaning}\n"));
                }
                Ok(own_name)
            }
        }
    }

    fn dictionary(&self, name: &str, used: &mut Used) -> Result<String> {
        ensure!(self.dictionaries.contains(name), "{DICTIONARIES} has no class {name}");
        used.dictionaries.insert(name.to_owned());
        Ok(name.to_owned())
    }

    /// What an alias, a tuple struct or an enum stands for.
    fn meaning(&self, item: &Item, used: &mut Used) -> Result<String> {
        let fields = |fields: &Fields, used: &mut Used| {
            let types = fields.iter().map(|field| self.python(&field.ty, None, used)).collect::<Result<Vec<_>>>()?;
            Ok::<_, anyhow::Error>(if types.len() == 1 {
                types.concat()
            } else {
                format!("tuple[{}]", types.join(", "))
            })
        };
        match item {
            Item::Type(alias) => said(&alias.attrs).map_or_else(|| self.python(&alias.ty, None, used), Ok),
            Item::Struct(own) => fields(&own.fields, used),
            Item::Enum(own) => {
                let variants = own.variants.iter().map(|variant| fields(&variant.fields, used));
                Ok(variants.collect::<Result<Vec<_>>>()?.join(" | "))
            }
            _ => bail!("neither an alias nor a type"),
        }
    }
}

/// What the stub needs beside its functions and classes.
#[derive(Default)]
struct Used {
    names: BTreeSet<String>,
    /// Each after those it is made of.
    aliases: Vec<String>,
    dictionaries: BTreeSet<String>,
}

/// The first part of the first sentence of the documentation.
fn docstring(name: &str, attributes: &[Attribute]) -> Result<String> {
    const LONGEST: usize = 98;
    let text = documentation(attributes).join(" ");
    let paragraph = text.split("  ").next().unwrap_or_default().trim();
    let until = |text: &'_ str, end: &str| text.split_once(end).map_or(text.len(), |(first, _)| first.len());
    let length = [". ", "; ", ": "].map(|end| until(paragraph, end)).into_iter().min().unwrap_or(0);
    let sentence = paragraph[..length].trim_end_matches('.');
    ensure!(!sentence.is_empty(), "{name} has no documentation");
    ensure!(sentence.chars().count() < LONGEST, "{name}: the first sentence must be shorter than {LONGEST} characters");
    Ok(format!("\"\"\"{sentence}.\"\"\""))
}

/// The type that a line of the documentation says: ``Python: `type` ``.
fn said(attributes: &[Attribute]) -> Option<String> {
    let lines = documentation(attributes);
    let of = lines.iter().find_map(|line| line.strip_prefix("Python: `")?.strip_suffix('`'))?;
    Some(of.to_owned())
}

fn documentation(attributes: &[Attribute]) -> Vec<String> {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    attributes.iter().filter_map(line).collect()
}

fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.path().segments.last().is_some_and(|last| last.ident == name))
}

fn derives_from_python(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("derive") => list.tokens.to_string().contains("FromPyObject"),
        _ => false,
    })
}

fn last_name(of: &Type) -> Option<String> {
    let Type::Path(path) = of else { return None };
    path.path.segments.last().map(|last| last.ident.to_string())
}

/// The types in the angle brackets, without lifetimes.
fn arguments(path: &syn::TypePath) -> Vec<&Type> {
    let Some(syn::PathArguments::AngleBracketed(list)) = path.path.segments.last().map(|last| &last.arguments) else {
        return Vec::new();
    };
    let types = list.args.iter().filter_map(|argument| match argument {
        syn::GenericArgument::Type(of) => Some(of),
        _ => None,
    });
    types.collect()
}

/// The name that NumPy has for a type of numbers.
fn number(of: &Type) -> Result<&'static str> {
    Ok(match last_name(of).unwrap_or_default().as_str() {
        "f32" => "float32",
        "f64" => "float64",
        "u8" => "uint8",
        "u32" => "uint32",
        "u64" => "uint64",
        "i32" => "int32",
        "i64" => "int64",
        other => bail!("an array of {other:?}"),
    })
}

/// The names at the ends of an import.
fn leaves(tree: &UseTree, names: &mut Vec<String>) {
    match tree {
        UseTree::Path(path) => leaves(&path.tree, names),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, names)),
        UseTree::Name(name) => names.push(name.ident.to_string()),
        UseTree::Rename(_) | UseTree::Glob(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = r"
        /// Either number.
        ///
        /// Python: `NDArray[np.float32] | NDArray[np.float64]`
        pub(crate) type Floats<'py> = Bound<'py, PyUntypedArray>;
        #[derive(FromPyObject)]
        struct Arrays<'py>(Floats<'py>, Option<PyReadonlyArray1<'py, i64>>);
        #[derive(FromPyObject)]
        enum Target { Factor(f64), Size(usize, usize) }
        #[derive(FromPyObject)]
        #[pyo3(from_item_all)]
        struct Settings { seed: u64 }
        struct NotSeen;
        /// Codes rows. More is not said.
        #[pyfunction]
        fn encode<'py>(py: Python<'py>, arrays: Arrays<'py>, to: Target, settings: Settings) -> PyResult<(Floats<'py>, Model)> {}
        /// A model.
        #[pyclass]
        struct Model(u8);
        #[pymethods]
        impl Model {
            /// Reads it.
            #[new]
            fn new(bytes: &[u8]) -> PyResult<Self> {}
            /// Its kind.
            #[getter]
            fn kind(&self) -> &'static str {}
            fn __reduce__(&self) {}
        }
        #[pymodule]
        mod _native {
            #[pymodule_export]
            use crate::coding::{encode, Model};
        }
    ";

    fn made_of(code: &str) -> Result<String> {
        let file = syn::parse_file(code)?;
        Crate::new(&[file], "class Settings(TypedDict):\n").stub()
    }

    #[test]
    fn functions_classes_and_their_types_are_those_of_the_code() {
        let stub = made_of(CODE).unwrap();
        for expected in [
            "from sparsemble._parameters import Settings\n",
            "_Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]\n_Arrays: TypeAlias = tuple[_Floats, NDArray[np.int64] | None]\n",
            "_Target: TypeAlias = float | tuple[int, int]\n",
            "def encode(arrays: _Arrays, to: _Target, settings: Settings) -> tuple[_Floats, Model]:\n    \"\"\"Codes rows.\"\"\"\n",
            "@final\nclass Model:\n    \"\"\"A model.\"\"\"\n",
            "    def __new__(cls, bytes: bytes) -> Model:\n",
            "    @property\n    def kind(self) -> str:\n",
        ] {
            assert!(stub.contains(expected), "{expected}\nis not in\n{stub}");
        }
        assert!(!stub.contains("__reduce__") && !stub.contains("NotSeen"));
    }

    #[test]
    fn a_type_that_says_nothing_is_refused_with_the_way_to_say_it() {
        let error = made_of(&CODE.replace("to: Target", "to: Bound<'py, PyAny>")).unwrap_err();
        assert!(format!("{error:#}").contains("encode: PyAny: its type in Python is not known"), "{error:#}");
        let error = made_of(&CODE.replace("settings: Settings", "settings: PyDict")).unwrap_err();
        assert!(format!("{error:#}").contains("PyDict"), "{error:#}");
    }
}
