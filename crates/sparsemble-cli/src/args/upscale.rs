//! What can be typed after `sparsemble upscale` and `sparsemble eval`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{BatchArguments, RunArguments};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sparsemble upscale photo.jpg --scale 2 --report large.html -o large.png
  sparsemble upscale scans/ --scale 3 -o larger/
  sparsemble upscale photo.png --size 1920x1080 --method lanczos -o photo-hd.png
  sparsemble upscale - -o - --format jpg < photo.jpg > large.jpg

The default method is made for photographs; for graphics with hard edges, such as screenshots, take --method bicubic. The
brightness is enlarged by the method, colours and alpha by bicubic interpolation. 16 bits, alpha, colour profile and
EXIF data are kept where the kind of file written can hold them. Of a TIFF file with several pages the first is enlarged.
A picture is worked on in strips, so that memory holds the picture that is read, and of the result a strip if it becomes
PNG or PNM, else all of it. Pixels of which nothing is seen take the colours around them. Folders inside folders are not read.")]
pub(crate) struct UpscaleArguments {
    /// The pictures to enlarge, or folders of pictures: PNG, JPEG, TIFF, BMP, PNM, WebP.
    #[arg(value_name = "IN", required = true)]
    pub(crate) inputs: Vec<PathBuf>,

    /// The picture to write, of the kind its name asks for; for several pictures a folder [default: IN_x2.png beside IN].
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,

    /// How many times as wide and as high, from 1 to 4; 1.5 and the like are allowed.
    #[arg(short, long, value_name = "S", default_value_t = 2.0)]
    pub(crate) scale: f64,

    /// The size to reach instead: WIDTHxHEIGHT.
    #[arg(long, value_name = "SIZE", conflicts_with = "scale")]
    pub(crate) size: Option<String>,

    /// How to enlarge.
    #[arg(long, default_value = "anchored")]
    pub(crate) method: Enlarger,

    /// The atoms of each dictionary of the paper's methods [default: 1024, of ex-dict 20000]; fewer are faster.
    #[arg(long, value_name = "K", conflicts_with = "model")]
    pub(crate) atoms: Option<usize>,

    /// The dictionaries of rand-ex-av, boost-ex and boost-km [default: 50]; fewer are faster.
    #[arg(long, value_name = "L", conflicts_with = "model")]
    pub(crate) models: Option<usize>,

    /// A model of your own, by `sparsemble train --method upscaler` or any other method with --scale; or a dictionary of
    /// Yang et al. (.mat).
    #[arg(long, value_name = "MODEL", conflicts_with = "method")]
    pub(crate) model: Option<PathBuf>,

    /// Write how far from the truth the brightness of each pixel may be: .npy or .csv in grey levels, or a picture with
    /// ten times as many. For one picture, and a method that combines several opinions: not for bicubic, lanczos,
    /// pair-dict, ex-dict.
    #[arg(long, value_name = "FILE")]
    pub(crate) uncertainty: Option<PathBuf>,

    /// Write a page to look at to this .html file: the picture beside bicubic interpolation under a line that moves,
    /// how sure each pixel is, settings. For one picture.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) batch: BatchArguments,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

/// How to enlarge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Enlarger {
    /// By an ensemble of dictionaries whose atoms carry linear maps.
    Anchored,
    /// By bicubic interpolation, as MATLAB does.
    Bicubic,
    /// By Lanczos interpolation.
    Lanczos,
    /// A paired dictionary. This and all below are the paper's, learned first from photographs in the program: slow.
    PairDict,
    /// A dictionary of examples.
    ExDict,
    /// Averaged dictionaries of random examples.
    RandExAv,
    /// Boosted dictionaries of examples.
    BoostEx,
    /// Boosted dictionaries of cluster centres.
    BoostKm,
}

impl Enlarger {
    /// As it is typed.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Whether it is of the paper, which is neither the fastest nor the best.
    pub(crate) fn is_the_papers(self) -> bool {
        match self {
            Self::Anchored | Self::Bicubic | Self::Lanczos => false,
            Self::PairDict | Self::ExDict | Self::RandExAv | Self::BoostEx | Self::BoostKm => true,
        }
    }

    /// Whether there is one opinion of each pixel, so that none can differ from it.
    pub(crate) fn has_one_opinion(self) -> bool {
        match self {
            Self::Bicubic | Self::Lanczos | Self::PairDict | Self::ExDict => true,
            Self::Anchored | Self::RandExAv | Self::BoostEx | Self::BoostKm => false,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sparsemble eval large.png --reference original.png --shave 2
  sparsemble eval results/*.png --reference Set5/ --shave 2

With the protocol `brightness` and as many pixels shaved as the scale, these are the figures that papers on super-resolution
print: PSNR with white 255 and SSIM with a Gaussian window of 11×11 pixels, of Y of BT.601 (16 to 235) in whole levels.
A reference that is a few pixels larger, because its sides could not be divided by the scale, is cut off at the right and
at the bottom.")]
pub(crate) struct EvalArguments {
    /// The pictures to judge, or folders of pictures.
    #[arg(value_name = "IMAGE", required = true)]
    pub(crate) images: Vec<PathBuf>,

    /// The picture as it was, or a folder with one for each IMAGE: the one whose name IMAGE's begins with.
    #[arg(short, long, value_name = "ORIGINAL")]
    pub(crate) reference: PathBuf,

    /// What is compared.
    #[arg(long, default_value = "brightness")]
    pub(crate) protocol: Compared,

    /// How many pixels at each border do not count.
    #[arg(long, value_name = "PIXELS", default_value_t = 0)]
    pub(crate) shave: usize,

    /// The number of threads; 0 is one for each core.
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,

    /// Print one JSON object instead of text (docs/JSON.md says what is in it).
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compared {
    /// Y of BT.601 in whole levels, or grey as it is.
    Brightness,
    /// Red, green and blue.
    Colours,
}
