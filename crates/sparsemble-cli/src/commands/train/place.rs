//! Where the model goes, and where a run that was left is found again.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use sparsemble::model_file::{Checkpoint, PastSteps, Record};
use sparsemble::{Error, Scalar};

use crate::args::TrainArguments;
use crate::failure::{Interrupted, Usage};
use crate::output::{claim, claim_page};
use crate::streams;

/// The model file and the checkpoint beside it.
pub(super) struct Place {
    model: PathBuf,
    checkpoint: PathBuf,
    resume: bool,
}

impl Place {
    pub(super) fn claim(arguments: &TrainArguments) -> Result<Self> {
        let model = arguments.output.clone();
        if arguments.resume && streams::is_output(&model) {
            let message =
                "--resume goes on from the checkpoint beside a model file; give --output the name of that file";
            return Err(Usage(message.into()).into());
        }
        let mut name = model.clone().into_os_string();
        name.push(".checkpoint");
        let checkpoint = PathBuf::from(name);
        claim(&model, arguments.run.force)?;
        arguments.report.iter().try_for_each(|path| claim_page(path, arguments.run.force))?;
        if checkpoint.exists() && !arguments.resume && !arguments.run.force {
            bail!(
                "{} holds a run that was left; add --resume to go on with it or --force to begin anew",
                checkpoint.display()
            );
        }
        Ok(Self { model, checkpoint, resume: arguments.resume })
    }

    /// Where both are.
    pub(super) fn folder(&self) -> &Path {
        self.model.parent().unwrap_or(Path::new("."))
    }

    /// Where the checkpoint is.
    pub(super) fn checkpoint_path(&self) -> &Path {
        &self.checkpoint
    }

    /// The checkpoint, and the steps already done if the run is to go on and there are any.
    pub(super) fn checkpoint<'a, T: Scalar>(
        &self,
        record: &'a Record<T>,
    ) -> Result<(Checkpoint<'a, T>, Option<PastSteps<'a, T>>)> {
        if !self.resume {
            // Begun anew by force: nothing may be mistaken for a step of this run.
            self.clear();
        }
        if !self.checkpoint.exists() {
            return Ok((Checkpoint::begin(&self.checkpoint, record), None));
        }
        let (checkpoint, past) = Checkpoint::resume(&self.checkpoint, record)?;
        Ok((checkpoint, Some(past)))
    }

    /// Forgets the steps that were kept to go on with.
    pub(super) fn clear(&self) {
        // That it cannot be removed is no reason to fail: most often there is none, or the model is safe by now.
        let _ = std::fs::remove_file(&self.checkpoint);
    }

    /// Why a training ended early, and how to go on.
    pub(super) fn explain(&self, error: Error) -> anyhow::Error {
        let of_files = matches!(error, Error::Io { .. });
        if of_files && self.checkpoint.exists() && !streams::is_output(&self.model) {
            return anyhow!("{error}; make room and run the same command with --resume to go on");
        }
        if !matches!(error, Error::Interrupted { .. }) {
            return error.into();
        }
        let message = if streams::is_output(&self.model) {
            "interrupted; a run can only be resumed if --output is a file, which has its checkpoint beside it"
                .to_owned()
        } else if self.checkpoint.exists() {
            format!("interrupted; run the same command with --resume to go on from {}", self.checkpoint.display())
        } else {
            format!("interrupted before the first step of {} was done; nothing is kept", self.model.display())
        };
        Interrupted(message).into()
    }
}
