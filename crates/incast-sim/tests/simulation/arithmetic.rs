//! std's functions differ between machines, unlike `libm`'s. `+ - * /`, `sqrt` and rounding are exact (IEEE 754).

use std::path::{Path, PathBuf};

/// "Unspecified precision" in std's documentation; slow: `mul_add`.
const FORBIDDEN: [&str; 24] = [
    "acos", "asin", "atan", "atan2", "cbrt", "cos", "cosh", "exp", "exp2", "exp_m1", "hypot", "ln", "ln_1p", "log",
    "log10", "log2", "mul_add", "powf", "powi", "sin", "sin_cos", "sinh", "tan", "tanh",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn forbidden(line: &str) -> impl Iterator<Item = &'static str> {
    let code = line.split("//").next().unwrap_or_default().replace("self.", "self ");
    FORBIDDEN.into_iter().filter(move |name| {
        let called = |before: &str| code.contains(&format!("{before}{name}("));
        called(".") || ["f32::", "f64::"].iter().any(|of| called(of) || code.contains(&format!("{of}{name})")))
    })
}

#[test]
fn no_platform_mathematics() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&here.join("src"), &mut files);
    sources(&here.join("../incast-model/src"), &mut files);
    assert!(files.len() > 50, "{files:?}");
    let mut found = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("readable");
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            found.extend(forbidden(line).map(|name| format!("{}:{}: {name}", file.display(), number + 1)));
        }
    }
    assert!(found.is_empty(), "use the crate libm: {found:#?}");
}

#[test]
fn calls_are_recognised() {
    let of = |line: &str| forbidden(line).collect::<Vec<_>>();
    assert_eq!(of("let x = y.ln() + (2.0 * z).powf(3.0);"), ["ln", "powf"]);
    assert_eq!(of("values.map(f64::exp)"), ["exp"]);
    assert_eq!(of("f64::log2(x)"), ["log2"]);
    assert!(of("let x = libm::log(y) + self.log2(z) + a.sqrt().floor(); // not y.ln()").is_empty());
}
