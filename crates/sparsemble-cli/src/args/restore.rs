//! What can be typed after `sparsemble sense`, `recover` and `restore`.

use std::fmt::{Display, Formatter};
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use sparsemble_paper::Contender;

use super::{BatchArguments, PROJECTIONS, RunArguments};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sparsemble sense photo.png --ratio 0.25 --seed 5 -o z.npz
  sparsemble sense photo.png --phi phi.npy -o z.npz
  sparsemble sense photos/ --ratio 0.1 -o measured/

The file holds nothing of the picture but its measurements: `z`, a row for each block of each colour; `phi`, a row for each
measurement of a block; `size`, the height, width and number of colours; and with --means the mean of every block.")]
pub(crate) struct SenseArguments {
    /// The pictures to measure, or folders of pictures.
    #[arg(value_name = "IMAGE", required = true)]
    pub(crate) images: Vec<PathBuf>,

    /// The file of measurements to write: .npz; for several pictures a folder.
    #[arg(short, long, value_name = "Z")]
    pub(crate) output: PathBuf,

    /// How many numbers to keep, as a share of the pixels.
    #[arg(long, value_name = "R", default_value_t = 0.25)]
    pub(crate) ratio: f64,

    /// How the random numbers of Φ are drawn.
    #[arg(long, value_name = "KIND", default_value = "orthonormal", value_parser = PROJECTIONS)]
    pub(crate) kind: String,

    /// A matrix file to measure with instead, a measurement a row: .npy, .npz, .csv or .mat.
    #[arg(long, value_name = "PHI", conflicts_with_all = ["ratio", "kind", "block", "seed"])]
    pub(crate) phi: Option<PathBuf>,

    /// The side of a block in pixels.
    #[arg(long, value_name = "PIXELS", default_value_t = 8, value_parser = RangedU64ValueParser::<usize>::new().range(1..=64))]
    pub(crate) block: usize,

    /// The seed of Φ.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,

    /// Measure the brightness only, not each colour.
    #[arg(long)]
    pub(crate) luma: bool,

    /// Keep the mean of every block too: one number more for each.
    #[arg(long)]
    pub(crate) means: bool,

    #[command(flatten)]
    pub(crate) batch: BatchArguments,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sparsemble recover z.npz -o photo.png
  sparsemble recover z.npz -o photo.png --reference original.png --uncertainty error.png
  sparsemble recover z.npz -o photo.png --preset paper --method boost-km
  sparsemble recover z.npy --phi phi.mat --size 512x512 -o photo.png
  sparsemble recover z.npy --phi phi.npy --means means.npy --size 512x512x3 -o colours.png
  sparsemble recover measured/ -o photos/ --reference originals/

Presets:
  best   every block by local Gaussians, then turns of two priors, the picture's own patches and
         Gaussians that learn from it, and of the measurements
  paper  every block on its own, by a method of Table 1 with its settings (λ = 0.1 for intensities from 0 to 1, K = 256,
         L = 50; boosting is trained through Φ). In the reading that fits Table 1 best the means of blocks are
         transmitted: `sparsemble sense --means`. Without them they are estimated.

Nothing need be trained: the Gaussians are part of the program, and the ensembles of the paper are made of patches of
photographs that are.

Blocks of another side than 8 have no first estimate, unless --model has local Gaussians of them: for these `best` is twice
as many turns of the first prior alone, and of the measurements.

With --reference the linear estimator of the least mean squared error (LMMSE) is compared too, for blocks of 2 to 16 pixels a
side: a method should beat it.

--uncertainty of `best` is an estimate of the size of errors, whose calibration for blocks of 8 docs/RESTORATION.md has. That
of `paper` is the spread of the members, the same for all pixels of a block: it tells where errors are likely, and is no
estimate of their size; but for a model of local Gaussians, for which it is the error expected of a block.

Measurements of your own are those of grey levels from 0 to 255, a block a row. The pixels of a block go row by row, as do
the blocks of a picture; in colour all blocks of red come first, then green, then blue. A picture whose sides are no
multiples of the block's is continued by its last row and column.")]
pub(crate) struct RecoverArguments {
    /// What `sparsemble sense` has written, files or folders; or any matrix of measurements, a block a row, with --phi and --size.
    #[arg(value_name = "Z", required = true)]
    pub(crate) measurements: Vec<PathBuf>,

    /// How to recover.
    #[arg(long, default_value = "best")]
    pub(crate) preset: Preset,

    /// The method of the preset `paper`; others are trained by `sparsemble train` and given by --model [default: rand-ex-av].
    #[arg(long, value_name = "METHOD", conflicts_with = "model", value_parser = contenders())]
    pub(crate) method: Option<Contender>,

    /// A model of your own: local Gaussians for the preset `best`; any for `paper`, which codes with the λ above.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<PathBuf>,

    /// Φ of a block, a measurement a row, if Z does not hold it.
    #[arg(long, value_name = "PHI", requires = "size")]
    pub(crate) phi: Option<PathBuf>,

    /// The size of the picture, WIDTHxHEIGHT or in colour WIDTHxHEIGHTx3, if Z does not hold it.
    #[arg(long, value_name = "SIZE", requires = "phi")]
    pub(crate) size: Option<String>,

    /// The mean of every block in grey levels, if Z does not hold it and it is known: a list, .npy, .npz, .csv or .mat.
    #[arg(long, value_name = "MEANS", requires = "phi")]
    pub(crate) means: Option<PathBuf>,

    /// The standard deviation of the noise in the measurements, in grey levels from 0 to 255.
    #[arg(long, value_name = "SIGMA", default_value_t = 0.0)]
    pub(crate) noise: f64,

    #[command(flatten)]
    pub(crate) picture: PictureArguments,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sparsemble restore noisy.png --task denoise --sigma 25 --report clean.html -o clean.png
  sparsemble restore scratched.png --task inpaint --mask scratches.png -o whole.png
  sparsemble restore blurred.png --task deblur --kernel gaussian:sigma=1.6 --sigma 2 -o sharp.png
  sparsemble restore scans/ --task denoise --sigma 10 -o clean/

The mask is a picture of the same size: white where a pixel is missing, black where it is known. 16 bits, alpha, colour
profile and EXIF data are kept where the kind of file written can hold them. Of a TIFF file with several pages the first
is restored.")]
pub(crate) struct RestoreArguments {
    /// The pictures to restore, or folders of pictures.
    #[arg(value_name = "IMAGE", required = true)]
    pub(crate) images: Vec<PathBuf>,

    /// What to do.
    #[arg(long)]
    pub(crate) task: Task,

    /// The standard deviation of the noise, in grey levels from 0 to 255 [default: 25 for denoise, 0 for inpaint, 1 for deblur].
    #[arg(long, value_name = "SIGMA")]
    pub(crate) sigma: Option<f64>,

    /// Which pixels are missing, for inpaint: a picture, white where one is.
    #[arg(long, value_name = "MASK", required_if_eq("task", "inpaint"))]
    pub(crate) mask: Option<PathBuf>,

    /// What the picture was blurred by, for deblur: gaussian:sigma=1.6, or a matrix file, which is scaled to sum to 1.
    #[arg(long, value_name = "KERNEL", required_if_eq("task", "deblur"))]
    pub(crate) kernel: Option<String>,

    #[command(flatten)]
    pub(crate) picture: PictureArguments,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

/// The picture that a command makes, and what is said of it.
#[derive(Debug, Args)]
pub(crate) struct PictureArguments {
    /// The picture to write, of the kind its name asks for: PNG, JPEG, TIFF, BMP, PNM, WebP; for several a folder.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,

    /// The picture as it was, to compare with; for several a folder, in which `photo.png` is that of `photo.npz` and of
    /// `photo-noisy.png`: of the names that the other's begins with the longest counts.
    #[arg(long, value_name = "ORIGINAL")]
    pub(crate) reference: Option<PathBuf>,

    /// Write how far from the truth each pixel may be: .npy or .csv in grey levels, or a picture ten times as bright, 255
    /// at most. In colour a .npy file is height × width × 3, and a .csv file has one colour below the other. For one picture.
    #[arg(long, value_name = "FILE")]
    pub(crate) uncertainty: Option<PathBuf>,

    /// Write a page to look at to this .html file: before and after under a line that moves, how sure each pixel is,
    /// settings.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Write 16 bits a sample [default: 8 for recover, for restore as many as IMAGE has].
    #[arg(long)]
    pub(crate) sixteen_bit: bool,

    #[command(flatten)]
    pub(crate) batch: BatchArguments,
}

/// How to recover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// The best picture.
    Best,
    /// As the paper does.
    Paper,
}

/// The methods of Table 1, by the names they have everywhere.
fn contenders() -> impl TypedValueParser<Value = Contender> {
    let of = |name: &str| Contender::ALL.into_iter().find(|contender| contender.in_words().0 == name);
    let possible = Contender::ALL.map(Contender::in_words).map(|(name, what)| PossibleValue::new(name).help(what));
    PossibleValuesParser::new(possible).try_map(move |name| of(&name).ok_or("it is none of the methods"))
}

impl RecoverArguments {
    /// The method that was given, or the default.
    pub(crate) fn method(&self) -> Contender {
        self.method.unwrap_or(Contender::RandExAv)
    }
}

impl RestoreArguments {
    /// The noise that was given, or that of the task.
    pub(crate) fn sigma(&self) -> f64 {
        self.sigma.unwrap_or(match self.task {
            Task::Denoise => 25.0,
            Task::Inpaint => 0.0,
            Task::Deblur => 1.0,
        })
    }
}

/// What to restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Task {
    /// Take noise out.
    Denoise,
    /// Fill missing pixels in.
    Inpaint,
    /// Undo a blur.
    Deblur,
}

impl Display for Task {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Denoise => "denoise",
            Self::Inpaint => "inpaint",
            Self::Deblur => "deblur",
        })
    }
}
