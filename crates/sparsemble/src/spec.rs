//! Settings as text, `name:key=value,key=value,flag`: how coders and degradations are named on the command line, in
//! Python and in model files.

use std::borrow::Cow;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::error::{Error, Result};

/// A text that has been taken apart. Values are taken out of it, so that what is left at the end is what nobody knew.
pub(crate) struct Spec<'a> {
    text: &'a str,
    what: &'static str,
    /// What stands before the colon.
    pub(crate) name: &'a str,
    settings: Vec<(&'a str, Option<&'a str>)>,
}

impl<'a> Spec<'a> {
    /// Takes a text apart; `what` is what it describes, for errors.
    pub(crate) fn parse(what: &'static str, text: &'a str) -> Self {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let parts = rest.split(',').map(str::trim).filter(|part| !part.is_empty());
        let setting = |part: &'a str| match part.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim())),
            None => (part, None),
        };
        Self { text, what, name: name.trim(), settings: parts.map(setting).collect() }
    }

    /// The value of this key, if it is there.
    pub(crate) fn value<V: FromStr>(&mut self, key: &'static str) -> Result<Option<V>> {
        let Some(place) = self.settings.iter().position(|(other, _)| *other == key) else { return Ok(None) };
        let (_, value) = self.settings.remove(place);
        match value.map(V::from_str) {
            Some(Ok(value)) => Ok(Some(value)),
            _ => Err(self.refuse(format!("`{key}` needs a number, as in `{key}=…`"))),
        }
    }

    /// Whether this key is there, without a value.
    pub(crate) fn flag(&mut self, key: &'static str) -> bool {
        let before = self.settings.len();
        self.settings.retain(|setting| *setting != (key, None));
        self.settings.len() < before
    }

    /// Nothing may be left.
    pub(crate) fn finish(self) -> Result<()> {
        match self.settings.first() {
            None => Ok(()),
            Some((key, _)) => Err(self.refuse(format!("`{}` has no setting `{key}`", self.name))),
        }
    }

    /// The error that says why this text is not understood.
    pub(crate) fn refuse(&self, reason: impl Into<Cow<'static, str>>) -> Error {
        Error::parameter(self.what, self.text, reason)
    }
}

/// The name and the settings that are there.
pub(crate) fn write(
    f: &mut Formatter<'_>,
    name: &str,
    settings: impl IntoIterator<Item = Option<String>>,
) -> std::fmt::Result {
    let settings: Vec<String> = settings.into_iter().flatten().collect();
    f.write_str(name)?;
    if settings.is_empty() { Ok(()) } else { write!(f, ":{}", settings.join(",")) }
}

/// `key=value`, unless the value is the default.
pub(crate) fn unless<V: PartialEq + Display>(default: &V, key: &str, value: &V) -> Option<String> {
    (value != default).then(|| format!("{key}={value}"))
}

/// `key`, if it is set.
pub(crate) fn flag(key: &str, set: bool) -> Option<String> {
    set.then(|| key.to_owned())
}
