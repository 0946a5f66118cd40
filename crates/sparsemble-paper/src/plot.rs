//! Plots as SVG files: grouped bars, lines over the numbers from one, and pictures side by side.
//!
//! Written by hand, as three kinds of plot need no library. The files bring their own background and ink for light and for
//! dark surroundings, so they are legible on any page, and leave a page that they are a part of alone.

use std::fmt::Write;

use crate::markup::escaped;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 460.0;
/// The plot itself; around it are title and legend, the labels of the axes and their ticks.
const LEFT: f64 = 74.0;
const RIGHT: f64 = WIDTH - 24.0;
const TOP: f64 = 104.0;
const BOTTOM: f64 = HEIGHT - 62.0;

/// Entries in a row of the legend.
const LEGEND_COLUMNS: usize = 3;
/// Bars narrower than this have no room for their value.
const VALUE_WIDTH: f64 = 26.0;
/// About how many lines the grid has.
const TICKS: f64 = 6.0;

/// The colours of [`STYLE`].
const COLOURS: usize = 7;

/// Colours that colour-blind eyes tell apart (after Okabe and Ito), each bright enough on dark and dark enough on white.
const STYLE: &str = "\
.plot text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328; }
.plot .title { font-size: 16px; font-weight: 600; }
.plot .value { font-size: 10px; }
.plot .paper { fill: #ffffff; }
.plot .grid { stroke: #d8dee4; }
.plot .axis { stroke: #59636e; }
.plot .c0 { fill: #2f81c7; stroke: #2f81c7; }
.plot .c1 { fill: #dd7f1f; stroke: #dd7f1f; }
.plot .c2 { fill: #1a9e78; stroke: #1a9e78; }
.plot .c3 { fill: #c2609a; stroke: #c2609a; }
.plot .c4 { fill: #8b8fa3; stroke: #8b8fa3; }
.plot .c5 { fill: #b09a2c; stroke: #b09a2c; }
.plot .c6 { fill: #a8482a; stroke: #a8482a; }
.plot .pale { fill-opacity: 0.25; }
.plot .line { fill: none; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  .plot text { fill: #e6edf3; }
  .plot .paper { fill: #0d1117; }
  .plot .grid { stroke: #30363d; }
  .plot .axis { stroke: #9198a1; }
}
";

/// What is written on a plot.
#[derive(Debug, Clone, Copy)]
pub struct Labels<'a> {
    /// At the top.
    pub title: &'a str,
    /// Below the horizontal axis.
    pub horizontal: &'a str,
    /// Beside the vertical axis.
    pub vertical: &'a str,
}

/// Values that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    name: String,
    values: Vec<f64>,
    colour: usize,
    is_pale: bool,
}

impl Series {
    /// A series of this name, in one of seven colours.
    pub fn new(name: &str, values: Vec<f64>, colour: usize) -> Self {
        Self { name: name.to_owned(), values, colour, is_pale: false }
    }

    /// The same in outline: for what another series is compared with.
    #[must_use]
    pub(crate) fn pale(self) -> Self {
        Self { is_pale: true, ..self }
    }

    fn class(&self) -> String {
        format!("c{}{}", self.colour % COLOURS, if self.is_pale { " pale" } else { "" })
    }
}

/// A group of bars for each name; every series has one bar in each where it has a value. The axis starts at zero.
pub fn bars(labels: &Labels<'_>, groups: &[String], series: &[Series]) -> String {
    let axis = Axis::new(0.0, largest(series));
    let mut plot = frame(labels, series, axis, square);
    let group_width = (RIGHT - LEFT) / groups.len().max(1) as f64;
    let bar_width = 0.84 * group_width / series.len().max(1) as f64;
    for (number, group) in groups.iter().enumerate() {
        let left = LEFT + group_width * (number as f64 + 0.08);
        plot += &text(LEFT + group_width * (number as f64 + 0.5), BOTTOM + 20.0, "text-anchor=\"middle\"", group);
        for (place, one) in series.iter().enumerate() {
            let Some(&value) = one.values.get(number).filter(|value| value.is_finite()) else { continue };
            let (x, y) = (left + bar_width * place as f64, axis.place(value));
            let (class, width, height) = (one.class(), bar_width - 3.0, (BOTTOM - y).max(0.0));
            let _ = writeln!(
                plot,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
            );
            if bar_width >= VALUE_WIDTH {
                let middle = x + 0.5 * width;
                plot += &text(middle, y - 4.0, "class=\"value\" text-anchor=\"middle\"", &short(value));
            }
        }
    }
    plot + "</svg>\n"
}

/// A line for each series over 1, 2, 3 …
pub fn lines(labels: &Labels<'_>, series: &[Series]) -> String {
    let values = || series.iter().flat_map(|one| one.values.iter().copied());
    let axis = Axis::new(values().fold(f64::INFINITY, f64::min), largest(series));
    let mut plot = frame(labels, series, axis, marker);
    let count = series.iter().map(|one| one.values.len()).max().unwrap_or(0).max(2);
    let across = |number: usize| LEFT + 16.0 + (RIGHT - LEFT - 32.0) * number as f64 / (count - 1) as f64;
    let every = count.div_ceil(20);
    for number in (0..count).filter(|number| (number + 1) % every == 0) {
        plot += &text(across(number), BOTTOM + 20.0, "text-anchor=\"middle\"", &(number + 1).to_string());
    }
    for one in series {
        let class = one.class();
        let points: Vec<(f64, f64)> =
            one.values.iter().enumerate().map(|(number, &value)| (across(number), axis.place(value))).collect();
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(plot, "<polyline class=\"{class} line\" points=\"{}\"/>", path.join(" "));
        for (x, y) in points {
            plot += &marker(one, x, y);
        }
    }
    plot + "</svg>\n"
}

/// A picture on a sheet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    /// Below the picture.
    pub(crate) caption: String,
    /// A PNG file in base 64.
    pub(crate) png: String,
    /// How wide it is compared with the others, up to one.
    pub(crate) share: f64,
}

/// Panels in rows of four, each this many units wide and high; the pictures are part of the file.
pub(crate) fn sheet(title: &str, panels: &[Panel], side: f64) -> String {
    const GAP: f64 = 16.0;
    const CAPTION: f64 = 28.0;
    let columns = panels.len().clamp(1, 4);
    let rows = panels.len().div_ceil(columns);
    let width = GAP + columns as f64 * (side + GAP);
    let height = 44.0 + rows as f64 * (side + CAPTION + GAP);
    let mut plot = opening(title, width, height);
    let captions: Vec<&str> = panels.iter().map(|panel| panel.caption.as_str()).collect();
    let _ = writeln!(plot, "<desc>{}</desc>", escaped(&captions.join(", ")));
    plot += &text(GAP, 28.0, "class=\"title\"", title);
    for (number, panel) in panels.iter().enumerate() {
        let x = GAP + (number % columns) as f64 * (side + GAP);
        let y = 44.0 + (number / columns) as f64 * (side + CAPTION + GAP);
        let (own, margin) = (side * panel.share, 0.5 * side * (1.0 - panel.share));
        let _ = writeln!(
            plot,
            "<image x=\"{:.1}\" y=\"{:.1}\" width=\"{own}\" height=\"{own}\" href=\"data:image/png;base64,{}\"/>",
            x + margin,
            y + margin,
            panel.png
        );
        plot += &text(x + 0.5 * side, y + side + 20.0, "text-anchor=\"middle\"", &panel.caption);
    }
    plot + "</svg>\n"
}

/// The start of a file: its size, its name for who cannot see it, its colours and its background.
fn opening(title: &str, width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" class=\"plot\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
        escaped(title)
    )
}

/// Background, title, legend, grid and axes; the file is still open. `mark` draws the mark of a series at a place.
fn frame(labels: &Labels<'_>, series: &[Series], axis: Axis, mark: fn(&Series, f64, f64) -> String) -> String {
    let mut plot = opening(labels.title, WIDTH, HEIGHT);
    plot += &text(LEFT, 28.0, "class=\"title\"", labels.title);
    // Down the columns, so that what belongs together stands together.
    let rows = series.len().div_ceil(LEGEND_COLUMNS).max(1);
    for (number, one) in series.iter().enumerate() {
        let x = LEFT + (RIGHT - LEFT) / LEGEND_COLUMNS as f64 * (number / rows) as f64;
        let y = 52.0 + 20.0 * (number % rows) as f64;
        plot += &mark(one, x + 6.0, y);
        plot += &text(x + 20.0, y + 5.0, "", &one.name);
    }
    for tick in axis.ticks() {
        let y = axis.place(tick);
        let _ = writeln!(plot, "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
        plot += &text(LEFT - 8.0, y + 4.5, "text-anchor=\"end\"", &axis.label(tick));
    }
    let _ = writeln!(plot, "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{BOTTOM}\" y2=\"{BOTTOM}\"/>");
    plot += &text(0.5 * (LEFT + RIGHT), HEIGHT - 16.0, "text-anchor=\"middle\"", labels.horizontal);
    let middle = 0.5 * (TOP + BOTTOM);
    let turned = format!("text-anchor=\"middle\" transform=\"rotate(-90 18 {middle})\"");
    plot + &text(18.0, middle, &turned, labels.vertical)
}

/// The vertical axis: from one round number to another, in round steps.
#[derive(Clone, Copy)]
struct Axis {
    start: f64,
    end: f64,
    step: f64,
}

impl Axis {
    fn new(least: f64, largest: f64) -> Self {
        let span = if largest > least { largest - least } else { 1.0 };
        let power = 10_f64.powf((span / TICKS).log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| span / step <= TICKS).unwrap_or(10.0 * power);
        let least = if least.is_finite() { least } else { 0.0 };
        Self { start: (least / step).floor() * step, end: (least.max(largest) / step).ceil() * step, step }
    }

    fn place(self, value: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * (value - self.start) / (self.end - self.start).max(self.step)
    }

    fn ticks(self) -> impl Iterator<Item = f64> {
        let count = ((self.end - self.start) / self.step).round() as usize;
        (0..=count).map(move |number| self.start + self.step * number as f64)
    }

    /// With as many digits as the step has.
    fn label(self, tick: f64) -> String {
        let whole = |digits: &usize| {
            let scaled = self.step * 10_f64.powi(*digits as i32);
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        };
        let digits = (0..12).find(whole).unwrap_or(12);
        format!("{tick:.digits$}")
    }
}

fn largest(series: &[Series]) -> f64 {
    series.iter().flat_map(|one| one.values.iter().copied()).fold(0.0, f64::max)
}

/// Three digits that count, without the zero before the point.
fn short(value: f64) -> String {
    let digits = (2 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.digits$}");
    text.strip_prefix('0').filter(|rest| !rest.is_empty()).unwrap_or(&text).to_owned()
}

/// The mark of bars.
fn square(series: &Series, x: f64, y: f64) -> String {
    let (class, left, up) = (series.class(), x - 6.0, y - 6.0);
    format!("<rect class=\"{class}\" x=\"{left:.1}\" y=\"{up:.1}\" width=\"12\" height=\"12\"/>\n")
}

/// The mark of a line: they differ, for who sees no colours.
fn marker(series: &Series, x: f64, y: f64) -> String {
    let class = series.class();
    let (left, right, up, down) = (x - 4.0, x + 4.0, y - 4.0, y + 4.0);
    match series.colour % 3 {
        0 => format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>\n"),
        1 => format!("<rect class=\"{class}\" x=\"{left:.1}\" y=\"{up:.1}\" width=\"8\" height=\"8\"/>\n"),
        _ => {
            format!("<polygon class=\"{class}\" points=\"{x:.1},{up:.1} {right:.1},{down:.1} {left:.1},{down:.1}\"/>\n")
        }
    }
}

fn text(x: f64, y: f64, attributes: &str, words: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{}</text>\n", escaped(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABELS: Labels<'_> = Labels { title: "A < B & C", horizontal: "K", vertical: "error" };

    #[test]
    fn axes_have_round_steps_and_hold_all_values() {
        let axis = Axis::new(0.0, 0.0437);
        assert_eq!(
            axis.ticks().map(|tick| axis.label(tick)).collect::<Vec<_>>(),
            ["0.00", "0.01", "0.02", "0.03", "0.04", "0.05"]
        );
        assert!(axis.place(0.0437) > TOP && (axis.place(0.0) - BOTTOM).abs() < 1e-9);
        let axis = Axis::new(103.0, 117.0);
        assert_eq!(
            axis.ticks().map(|tick| axis.label(tick)).collect::<Vec<_>>(),
            ["102.5", "105.0", "107.5", "110.0", "112.5", "115.0", "117.5"]
        );
        // Nothing to show is no reason to divide by zero.
        assert!(Axis::new(f64::INFINITY, 0.0).place(0.0).is_finite());
        assert!(Axis::new(2.0, 2.0).place(2.0).is_finite());
    }

    #[test]
    fn values_are_short() {
        assert_eq!(
            [0.012_34, 0.5, 1.0, 12.34, 123.4, 0.0].map(short),
            [".0123", ".500", "1.00", "12.3", "123", ".000000000"]
        );
    }

    #[test]
    fn a_bar_is_as_high_as_its_value() {
        let series = [Series::new("one", vec![1.0, 2.0], 0), Series::new("two", vec![4.0, 3.0], 1).pale()];
        let plot = bars(&LABELS, &["a".into(), "b".into()], &series);
        let height = |class: &str, number: usize| {
            let bar = plot.match_indices(&format!("<rect class=\"{class}\"")).nth(number + 1).unwrap().0; // the first is the legend's
            let rest = plot[bar..].split_once("height=\"").unwrap().1;
            rest.split_once('"').unwrap().0.parse::<f64>().unwrap()
        };
        assert!((height("c0", 1) / height("c0", 0) - 2.0).abs() < 0.01);
        assert!((height("c1 pale", 0) / height("c0", 0) - 4.0).abs() < 0.01);
        assert!(plot.contains("A &lt; B &amp; C") && plot.trim_end().ends_with("</svg>"));
        // Values are written where they do not run into each other.
        let values = |groups: usize| {
            let series = [0, 1, 2].map(|colour| Series::new("one", vec![1.0; groups], colour));
            let names: Vec<String> = (0..groups).map(|group| group.to_string()).collect();
            bars(&LABELS, &names, &series).matches("class=\"value\"").count()
        };
        assert_eq!([values(3), values(9)], [9, 0]);
        let gap = bars(&LABELS, &["a".into(), "b".into()], &[Series::new("one", vec![f64::NAN, 1.0], 0)]);
        assert_eq!((gap.matches("<rect class=\"c0\"").count(), gap.contains("NaN")), (2, false)); // one is the legend's
    }

    #[test]
    fn a_sheet_has_every_picture_and_its_caption_in_rows_of_four() {
        let panel = |number: usize| Panel {
            caption: format!("{number} < 9"),
            png: format!("AAA{number}"),
            share: if number == 1 { 0.5 } else { 1.0 },
        };
        let plot = sheet("A & B", &(0..7).map(panel).collect::<Vec<_>>(), 100.0);
        assert_eq!(plot.matches("<image ").count(), 7);
        assert!(plot.contains("base64,AAA6\"") && plot.contains(">6 &lt; 9</text>") && plot.contains("A &amp; B"));
        assert!(plot.contains("viewBox=\"0 0 480 332\""), "{}", &plot[..120]);
        assert!(
            plot.contains("x=\"157.0\" y=\"69.0\" width=\"50\" height=\"50\"") && plot.contains("<desc>0 &lt; 9, 1")
        );
    }

    #[test]
    fn lines_have_a_mark_for_each_value_and_differ_without_colours() {
        let series = [Series::new("one", vec![3.0, 2.0, 1.5], 0), Series::new("two", vec![2.5, 2.0], 2)];
        let plot = lines(&LABELS, &series);
        // One more of each is in the legend.
        assert_eq!(plot.matches("<circle").count(), 4);
        assert_eq!(plot.matches("<polygon").count(), 3);
        assert_eq!(plot.matches("<polyline").count(), 2);
    }
}
