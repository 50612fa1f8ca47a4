use std::fmt;
use std::path::{Path, PathBuf};

use incast_deadlock::Wiring;
use incast_deadlock::export::{MOST_TAGS, read_json};
use incast_deadlock::rules::Rules;
use incast_deadlock::verify::{Circularity, LossyWalk, Step, TaggedCycle, meets_conditions, verify_classes};
use incast_model::echo::counted;
use incast_model::input;
use serde::{Deserialize, Serialize};

use super::{PathsOption, Ready, option};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::scenario::Loaded;

/// Options of [`verify`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifyOptions {
    /// Rules files; switches may change between them at any time.
    pub files: Vec<PathBuf>,
    /// Paths that should stay lossless, if checked.
    #[serde(default)]
    pub paths: Option<PathsOption>,
    /// Traffic classes, with tags 1 to `classes`. Default: each file's.
    #[serde(default)]
    pub classes: Option<u8>,
    /// Seed of random choices.
    pub seed: u64,
}

/// Result of [`verify`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Each file by itself.
    pub files: Vec<VerifiedFile>,
    /// Largest tag of all files.
    pub tags: u8,
    /// True if all files together permit no cyclic dependency.
    pub deadlock_free: bool,
    /// Dependencies under all files together.
    #[serde(flatten)]
    pub circularity: Circularity,
    /// Turns that make packets on expected paths lossy, over all files; absent without paths.
    pub lossy: Option<usize>,
}

/// Result for one file of rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifiedFile {
    /// Name as given.
    pub file: String,
    /// Largest tag.
    pub tags: u8,
    /// Traffic classes, with tags 1 to `classes`.
    pub classes: u8,
    /// Rules (tag, ingress port, egress port).
    pub rules: usize,
    /// True if it meets Tagger's conditions: sufficient, not necessary.
    pub conditions: bool,
    /// Turns where packets on expected paths become lossy; absent without paths.
    pub lossy: Option<usize>,
    /// Examples of such turns.
    pub lossy_named: Vec<LossyWalk>,
}

impl Verified {
    /// True if deadlocks are impossible and expected paths stay lossless.
    pub fn holds(&self) -> bool {
        self.deadlock_free && self.lossy.unwrap_or(0) == 0
    }
}

/// Verifies rules files. Relative file names start at `base`.
pub fn verify(loaded: &Loaded, options: &VerifyOptions, base: &Path) -> Result<Verified, Diagnostics> {
    if options.files.is_empty() {
        return Err(Diagnostic::new("", "no file of rules; at least one is needed").into());
    }
    if let Some(classes) = options.classes.filter(|classes| !(1..=MOST_TAGS).contains(classes)) {
        return Err(option("classes", format!("{classes}; allowed: 1 to {MOST_TAGS}")));
    }
    let ready = Ready::new(loaded)?;
    let wiring = Wiring::new(&ready.fabric);
    let sets: Vec<(Rules, u8)> =
        options.files.iter().map(|file| read(&wiring, file, base)).collect::<Result<_, _>>()?;
    let elp = options.paths.as_ref().map(|paths| paths.elp(&wiring, &ready, base, options.seed)).transpose()?;
    let classes = |of_file: u8| options.classes.unwrap_or(of_file);
    let most = sets.iter().map(|&(_, of_file)| classes(of_file)).max().unwrap_or(1);
    let rules: Vec<&Rules> = sets.iter().map(|(rules, _)| rules).collect();
    let circularity = Circularity::new(&wiring, &rules, most);
    let mut files = Vec::new();
    for (file, (rules, of_file)) in options.files.iter().zip(&sets) {
        let classes = classes(*of_file);
        let walked = elp.as_ref().map(|elp| verify_classes(&wiring, rules, elp, classes));
        let walked = walked.transpose().map_err(|error| option("paths", error))?;
        files.push(VerifiedFile {
            file: file.display().to_string(),
            tags: rules.tags(),
            classes,
            rules: rules.len(),
            conditions: meets_conditions(&wiring, rules),
            lossy: walked.as_ref().map(|found| found.lossy),
            lossy_named: walked.map(|found| found.lossy_named).unwrap_or_default(),
        });
    }
    Ok(Verified {
        tags: files.iter().map(|file| file.tags).max().unwrap_or(0),
        deadlock_free: circularity.deadlock_free(),
        circularity,
        lossy: files.iter().map(|file| file.lossy).sum(),
        files,
    })
}

fn read(wiring: &Wiring<'_>, file: &Path, base: &Path) -> Result<(Rules, u8), Diagnostics> {
    const FORM: &str = "a file as `incast deadlock tag --export json` writes it";
    let wrong = |what: String| Diagnostic::new(file.display().to_string(), what);
    let text =
        input::read_text(&base.join(file), input::LARGE).map_err(|error| wrong(error.to_string()).allowed(FORM))?;
    if is_config_db(&text) {
        let what = "this is a SONiC configuration (CONFIG_DB); verify reads rules in incast's own format";
        return Err(wrong(what.into()).allowed(FORM).into());
    }
    let table = read_json(wiring, &text).map_err(|error| {
        let found = wrong(format!("{}: {}", error.place, error.what));
        let found = if error.place.starts_with("line ") { found.allowed(FORM) } else { found };
        Diagnostic { nearest: error.nearest, ..found }
    })?;
    let rules = table.expand(wiring);
    let rules = rules.map_err(|(switch, _, _, exists)| wrong(format!("{}: {exists}", wiring.name(switch))))?;
    Ok((rules, table.classes()))
}

/// Names of CONFIG_DB's tables are in capitals.
fn is_config_db(text: &str) -> bool {
    let capital = |name: &String| name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let tables = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text);
    tables.is_ok_and(|tables| !tables.is_empty() && tables.keys().all(capital))
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for VerifiedFile { file, tags, rules, classes, .. } in &self.files {
            let (tags, rules) = (counted(u64::from(*tags), "lossless tag"), counted(*rules as u64, "rule"));
            let sent = if *classes == 1 { String::new() } else { format!(", hosts send with tags 1 to {classes}") };
            writeln!(f, "{file}: {tags}, {rules}{sent}")?;
        }
        if self.files.len() > 1 {
            writeln!(f, "each switch can have any of these rules, and change them at any time")?;
        }
        let Circularity { buffers, dependencies, unused, falling, falling_named, cycle } = &self.circularity;
        let verdict = match cycle {
            None => "none of them cyclic: no deadlock is possible",
            Some(_) => "some of them cyclic: deadlocks are possible",
        };
        writeln!(f, "{buffers} buffers, {dependencies} dependencies, {verdict}")?;
        if *unused > 0 {
            writeln!(f, "{} unused", counted(*unused as u64, "rule"))?;
        }
        if let Some(Step { turn, new_tag, .. }) = falling_named.first() {
            let lead = if *falling == 1 { "leads" } else { "lead" };
            writeln!(
                f,
                "{} {lead} to a smaller tag, such as at {turn}, to {new_tag}",
                counted(*falling as u64, "rule")
            )?;
        }
        if let [VerifiedFile { conditions: false, .. }] = self.files[..] {
            let what = "no cycle within a tag, no rule to a smaller tag";
            writeln!(f, "Tagger's conditions ({what}) are not met; they are sufficient, not necessary")?;
        }
        if let Some(cycle) = cycle {
            self.write_cycle(cycle, f)?;
        }
        self.files.iter().try_for_each(|file| file.paths(f))
    }
}

impl Verified {
    fn write_cycle(&self, cycle: &TaggedCycle, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n  {cycle}")?;
        let heads = ["switch", "in port", "from", "tag", "out port", "to", "new tag", "a rule of"].map(String::from);
        let rows = cycle.turns.iter().map(|Step { turn, new_tag, of }| {
            let files: Vec<&str> = of.iter().map(|&at| self.files[at].file.as_str()).collect();
            let tag = turn.tag.map(|tag| tag.to_string()).unwrap_or_default();
            let [input, output] = [turn.in_port, turn.out_port].map(|port| port.to_string());
            let [switch, from, to] = [&turn.switch, &turn.from, &turn.to].map(Clone::clone);
            [switch, input, from, tag, output, to, new_tag.to_string(), files.join(", ")]
        });
        let rows: Vec<[String; 8]> = std::iter::once(heads).chain(rows).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let [a, b, c, d, e, g, h] = [0, 1, 2, 3, 4, 5, 6].map(width);
        for [switch, input, from, tag, output, to, new, files] in &rows {
            let line = format!(
                "    {switch:<a$}  {input:>b$}  {from:<c$}  {tag:>d$}  {output:>e$}  {to:<g$}  {new:>h$}  {files}"
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

impl VerifiedFile {
    fn paths(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.lossy, self.lossy_named.first()) {
            (None, _) => Ok(()),
            (Some(lossy), Some(walk)) => {
                let turns = counted(lossy as u64, "turn");
                let LossyWalk { turn, path } = walk;
                writeln!(
                    f,
                    "{}: packets become lossy at {turns} of their paths, such as at {turn} on {path}",
                    self.file
                )
            }
            (Some(_), None) => writeln!(f, "{}: no packet on an expected path becomes lossy", self.file),
        }
    }
}
