use std::path::Path;
use std::sync::Arc;

use incast_deadlock::elp::{Choice, Elp, Roots, ShortestPaths, UpDown};
use incast_deadlock::export::read_json;
use incast_deadlock::rules::Rules;
use incast_deadlock::tagging::{ClosScheme, Greedy, Injection, Order, Tagging};
use incast_deadlock::verify::{Circularity, fit, lossy_turns};
use incast_deadlock::{Tag, Wiring};
use incast_model::fabric::Fabric;
use incast_model::field::FieldError;
use incast_model::flow::FlowSet;
use incast_model::input;
use incast_sim::Params;
use incast_sim::switch::{TagMethod, TagRules, TaggedPaths, TaggingParams};

use super::Scenario;
use super::given_paths::{GivenPaths, path_set};
use super::prepare::{located, of_classes};
use crate::diagnostic::Diagnostics;

type RulesAndWarnings = (Arc<TagRules>, Vec<String>);

impl Scenario {
    /// Rules and warnings about them; `None` without tagging.
    pub(super) fn tag_rules(
        &self,
        scheme: &str,
        fabric: &Fabric,
        (params, flows): (&Params, &Arc<FlowSet>),
        base: &Path,
    ) -> Result<Option<RulesAndWarnings>, Diagnostics> {
        let wiring = Wiring::new(fabric);
        let Some((rules, classes)) = self.tagger(scheme, &wiring, params, base)? else { return Ok(None) };
        let flows = of_classes(flows, params);
        let lossy = lossy_paths(&wiring, &rules, params, &flows);
        let mut warning = classes.and_then(|classes| cycle_warning(&wiring, &[&rules], classes, params, &flows));
        let (mut tags, mut before) = (table(fabric, &rules), rules);
        for (number, change) in params.switch.tagging.change.iter().enumerate() {
            let field = format!("switch.tagging.change[{number}].rules");
            let (rules, classes) =
                from_file(&wiring, &base.join(&change.rules), &field).map_err(|error| located(self, scheme, error))?;
            warning = warning.or_else(|| cycle_warning(&wiring, &[&before, &rules], classes, params, &flows));
            tags.change(change.times(fabric, params.seed, number as u64), table(fabric, &rules));
            before = rules;
        }
        let unused = beside_rules(&params.switch.tagging);
        Ok(Some((Arc::new(tags), warning.into_iter().chain(lossy).chain(unused).collect())))
    }

    /// Rules and a file's traffic classes; `None` without tagging.
    pub(crate) fn tagger(
        &self,
        scheme: &str,
        wiring: &Wiring<'_>,
        params: &Params,
        base: &Path,
    ) -> Result<Option<(Rules, Option<u8>)>, Diagnostics> {
        let tagging = &params.switch.tagging;
        if !tagging.enabled {
            return Ok(None);
        }
        let made = match &tagging.rules {
            Some(file) => from_file(wiring, &base.join(file), FILE).map(|(rules, classes)| (rules, Some(classes))),
            None => from_paths(wiring, tagging, params).map(|rules| (rules, None)),
        };
        Ok(Some(made.map_err(|error| located(self, scheme, error))?))
    }
}

/// Parameters that rules of a file replace.
fn beside_rules(tagging: &TaggingParams) -> Option<String> {
    let usual = TaggingParams::default();
    let given = [
        ("paths", tagging.paths != usual.paths),
        ("bounces", tagging.bounces != usual.bounces),
        ("method", tagging.method != usual.method),
    ];
    let names: Vec<String> = given.iter().filter(|(_, given)| *given).map(|(name, _)| format!("`{name}`")).collect();
    let what = "no effect: `rules` says which tags packets have";
    tagging.rules.as_ref().filter(|_| !names.is_empty())?;
    Some(format!("{} {} {what}", names.join(", "), if names.len() == 1 { "has" } else { "have" }))
}

pub(crate) fn table(fabric: &Fabric, rules: &Rules) -> TagRules {
    let mut table = TagRules::new(fabric, rules.tags());
    for (tag, new, turns) in rules.turns() {
        turns.iter().for_each(|(input, output)| table.insert(fabric, tag.0, input, output, new.0));
    }
    table
}

const FILE: &str = "switch.tagging.rules";

fn from_file(wiring: &Wiring<'_>, file: &Path, field: &str) -> Result<(Rules, u8), FieldError> {
    let shown = file.display();
    let wrong = |why: String| FieldError::new(field, format!("{shown}: {why}"));
    let text = input::read_text(file, input::LARGE)
        .map_err(|error| FieldError::new(field, format!("cannot read {shown}: {error}")))?;
    let table = read_json(wiring, &text).map_err(|error| wrong(error.to_string()))?;
    let rules = table.expand(wiring);
    let rules = rules.map_err(|(node, _, _, exists)| wrong(format!("{}: {exists}", wiring.name(node))))?;
    Ok((rules, table.classes()))
}

/// Deadlocks with the file's and the flows' tags, if each switch has one of these sets of rules. Not an error: wrong rules can
/// be studied.
fn cycle_warning(
    wiring: &Wiring<'_>,
    sets: &[&Rules],
    classes: u8,
    params: &Params,
    flows: &FlowSet,
) -> Option<String> {
    let tag = |priority: u8| params.switch.lossless.iter().position(|&one| one == priority).map_or(0, |at| at + 1);
    let tags = sets.iter().map(|rules| rules.tags()).max().unwrap_or(0);
    let sent = flows.flows.iter().map(|flow| tag(flow.priority)).max().unwrap_or(0);
    let cycle = Circularity::new(wiring, sets, classes.max(sent.min(usize::from(tags)) as u8)).cycle?;
    let (what, advice) = if sets.len() == 1 {
        ("these rules", "; leave out `rules`: incast then computes rules that prevent them")
    } else {
        ("old and new rules of a change together", "")
    };
    Some(format!("{what} allow a cyclic buffer dependency, so they do not prevent deadlocks: {cycle}{advice}"))
}

/// The first flow with an explicit path, in one direction, on which these rules make packets of its data lossy.
fn lossy_paths(wiring: &Wiring<'_>, rules: &Rules, params: &Params, flows: &FlowSet) -> Option<String> {
    let tags = (1..=rules.tags()).zip(&params.switch.lossless);
    let found = tags.flat_map(|(tag, &priority)| {
        let mut paths = GivenPaths::new();
        for (index, flow) in flows.flows.iter().enumerate().filter(|(_, flow)| flow.priority == priority) {
            flow.path.map(|path| paths.entry((path, false)).or_insert(index));
        }
        let alone = |(path, flow): (&(u32, bool), &usize)| {
            let elp = Elp::Paths(path_set(wiring, flows, &GivenPaths::from([(*path, *flow)])));
            Some((*flow, lossy_turns(wiring, rules, &elp, Tag(tag)).ok()?.1.into_iter().next()?))
        };
        paths.iter().filter_map(alone).min_by_key(|(flow, _)| *flow)
    });
    let (flow, walk) = found.min_by_key(|(flow, _)| *flow)?;
    Some(format!(
        "packets of flow {flow} become lossy on its `path`, at {}: the rules are not made for it; give rules that `incast \
         deadlock tag --paths FILE` makes of a file with this path",
        walk.turn
    ))
}

const PATHS: &str = "switch.tagging.paths";

fn from_paths(wiring: &Wiring<'_>, tagging: &TaggingParams, params: &Params) -> Result<Rules, FieldError> {
    let TaggingParams { paths, bounces, method, .. } = *tagging;
    let routes;
    let elp = match paths {
        TaggedPaths::UpDown => Elp::UpDown(UpDown { bounces }),
        TaggedPaths::Shortest => Elp::Shortest(ShortestPaths::default()),
        TaggedPaths::Trees => Elp::Shortest(ShortestPaths {
            choice: Choice::Random,
            roots: Roots::Host,
            seed: params.seed,
            ..ShortestPaths::default()
        }),
        TaggedPaths::Routes => {
            routes = params.network.routes(wiring.fabric(), params.seed)?;
            Elp::Routes(&routes)
        }
    };
    let usual = if paths == TaggedPaths::UpDown { TagMethod::Clos } else { TagMethod::Greedy };
    let tagging = match (method.unwrap_or(usual), paths) {
        (TagMethod::Clos, TaggedPaths::UpDown) => Tagging::Clos(ClosScheme::new(bounces)),
        (TagMethod::Clos, _) => {
            return Err(FieldError::new("switch.tagging.method", "clos is for up-down paths; greedy or per-hop"));
        }
        (TagMethod::Greedy, _) => Tagging::Greedy(Greedy { order: Order::Number, injection: Injection::Shared }),
        (TagMethod::PerHop, _) => Tagging::PerHop,
    };
    let rules = tagging.rules(wiring, &elp).map_err(|error| FieldError::new(PATHS, error.to_string()))?.rules;
    let available = params.switch.lossless.len() as u8;
    // Without PFC a later check reports another fault.
    if params.switch.paused_priorities() != 0
        && let Err(error) = fit(wiring, &rules, &elp, 1, available)
    {
        return Err(FieldError::new("switch.lossless", error.to_string()));
    }
    Ok(rules)
}

pub(crate) fn summary(params: &Params, rules: Option<&TagRules>) -> Option<String> {
    let (tagging, rules) = (&params.switch.tagging, rules?);
    let tags = usize::from(rules.tags());
    let priorities: Vec<String> = params.switch.lossless.iter().take(tags).map(u8::to_string).collect();
    let from = match (&tagging.rules, tagging.paths) {
        (Some(file), _) => format!("rules of {}", file.display()),
        (None, TaggedPaths::UpDown) if tagging.bounces == 1 => "up-down paths with 1 bounce".into(),
        (None, TaggedPaths::UpDown) => format!("up-down paths with {} bounces", tagging.bounces),
        (None, TaggedPaths::Shortest) => "all shortest paths".into(),
        (None, TaggedPaths::Trees) => "shortest-path trees".into(),
        (None, TaggedPaths::Routes) => "the scenario's routes".into(),
    };
    let plural = if tags == 1 { ("tag", "priority") } else { ("tags", "priorities") };
    let changes = match tagging.change.len() {
        0 => String::new(),
        1 => ", 1 change of rules".into(),
        many => format!(", {many} changes of rules"),
    };
    Some(format!(
        "tagging: {tags} {} ({} {}) for {from}, lossy priority {}{changes}",
        plural.0,
        plural.1,
        priorities.join(", "),
        tagging.lossy_priority
    ))
}

#[cfg(test)]
mod tests {
    use incast_model::units::Time;

    use super::*;
    use crate::scenario::{Loaded, Prepared};

    const CLOS: &str = r#"
fabric.leaf_spine = { leaves = 3, spines = 2, hosts_per_leaf = 2 }
[[workload]]
incast = { fan_in = 2, size = "10kB", receiver = 0 }
[switch]
lossless = [3, 4]
[scheme.plain]
control = "unlimited"
[scheme.tagger]
control = "unlimited"
switch.tagging.enabled = true
"#;

    fn prepared(text: &str, base: &Path) -> Result<Prepared, Diagnostics> {
        Loaded::from_text("s.toml", text, base, &[])?.prepare()
    }

    fn refused(change: (&str, &str)) -> String {
        assert!(CLOS.contains(change.0), "{}", change.0);
        let found = prepared(&CLOS.replacen(change.0, change.1, 1), Path::new(".")).expect_err("accepted");
        found.to_string()
    }

    #[test]
    fn a_scheme_has_the_rules_that_it_asks_for() {
        let prepared = prepared(CLOS, Path::new(".")).unwrap();
        let [plain, tagger] = [&prepared.schemes[0].setup, &prepared.schemes[1].setup];
        assert!(plain.tags.is_none());
        let rules = tagger.tags.as_deref().unwrap();
        let port = |from: &str, to: &str| {
            let fabric = &prepared.fabric;
            let node = |name: &str| fabric.nodes().iter().position(|node| node.name == name).unwrap();
            let from = incast_model::fabric::NodeId(node(from) as u32);
            fabric.ports_of(from).find(|&port| fabric.neighbour(port).index() == node(to)).unwrap()
        };
        let new = |tag, via: &str, from: &str, to: &str| {
            rules.new_tag(&prepared.fabric, Time::ZERO, tag, port(via, from), port(via, to))
        };
        // Up, across and down keeps the tag; down and up is a bounce; the second is too many.
        assert_eq!((new(1, "leaf0", "h0", "spine0"), new(1, "spine0", "leaf0", "leaf1")), (Some(1), Some(1)));
        assert_eq!((new(1, "leaf1", "spine0", "spine1"), new(2, "leaf1", "spine0", "spine1")), (Some(2), None));
        let said = summary(&tagger.params, tagger.tags.as_deref()).unwrap();
        assert_eq!(said, "tagging: 2 tags (priorities 3, 4) for up-down paths with 1 bounce, lossy priority 1");
    }

    #[test]
    fn rules_of_routes_are_not_made_for_longer_paths() {
        let text = |paths: &str, path: &str| {
            format!(
                "[fabric.custom]\nhosts = 3\nswitches = [\"s0\", \"s1\", \"s2\"]\nlinks = [{{ a = \"h0\", b = \"s0\" }}, {{ a = \"h1\", b = \"s1\" \
                 }}, {{ a = \"h2\", b = \"s2\" }}, {{ a = \"s0\", b = \"s1\" }}, {{ a = \"s1\", b = \"s2\" }}, {{ a = \
                 \"s2\", b = \"s0\" }}]\n[[workload]]\nlist = [{{ src = 0, dst = 2, size = \"1MB\", path = {path} }}]\n\
                 [scheme.A]\ncontrol = \"unlimited\"\nswitch.tagging = {{ enabled = true, paths = \"{paths}\" }}\n"
            )
        };
        let warned = |text: &str| prepared(text, Path::new(".")).unwrap().schemes[0].rule_warnings.clone();
        let long = r#"["h0", "s0", "s1", "s2", "h2"]"#;
        for paths in ["routes", "shortest"] {
            let [one] = &warned(&text(paths, long))[..] else { panic!("{paths}") };
            assert!(one.starts_with("packets of flow 0 become lossy on its `path`, at "), "{one}");
            assert!(one.contains("s1"), "{one}");
        }
        assert_eq!(warned(&text("routes", r#"["h0", "s0", "s2", "h2"]"#)), [""; 0]);
    }

    /// Rules of the Clos with one bounce, as exported.
    fn exported_rules() -> String {
        let loaded = Loaded::from_text("s.toml", CLOS, Path::new("."), &[]).unwrap();
        let options = r#"{"paths": {"up_down": {"bounces": 1}}, "method": "clos", "classes": 1, "random_order": false,
            "compression": "rectangles", "priorities": 7, "seed": 1, "export": ["json"]}"#;
        let options = serde_json::from_str(options).unwrap();
        let (_, files) = crate::deadlock::tag(&loaded, &options, Path::new(".")).unwrap();
        files[0].text.clone()
    }

    #[test]
    fn rules_of_a_file_are_those_that_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let written = exported_rules();
        std::fs::write(folder.path().join("rules.json"), &written).unwrap();
        let by_file = CLOS.replace("tagging.enabled = true", "tagging = { enabled = true, rules = \"rules.json\" }");
        let rules = |text: &str| prepared(text, folder.path()).unwrap().schemes[1].setup.tags.clone().unwrap();
        assert_eq!(rules(&by_file), rules(CLOS));
        // Keeping the tag at a bounce closes a cycle.
        let warnings = |text: &str| {
            let prepared = prepared(text, folder.path()).unwrap();
            let lines = prepared.warnings().iter().map(|one| one.summary(prepared.schemes.len()));
            lines.filter(|one| one.contains("tagging")).collect::<Vec<_>>()
        };
        assert_eq!(warnings(&by_file), [""; 0]);
        let [both] = &warnings(&by_file.replace("rules = ", "bounces = 0, paths = \"shortest\", rules = "))[..] else {
            panic!()
        };
        let said = "`paths`, `bounces` have no effect: `rules` says which tags packets have";
        assert!(both.contains(said), "{both}");
        let wrong = written.replace("\"new_tag\":2", "\"new_tag\":1");
        std::fs::write(folder.path().join("rules.json"), wrong).unwrap();
        let [warning] = &warnings(&by_file)[..] else { panic!() };
        let said = "these rules allow a cyclic buffer dependency, so they do not prevent deadlocks: ";
        assert!(
            warning.contains("rules")
                && warning.contains(said)
                && warning.ends_with("computes rules that prevent them (scheme tagger)"),
            "{warning}"
        );
        let cycle = warning.split(said).nth(1).unwrap();
        assert!(cycle.contains("leaf") && cycle.contains(" → spine"), "{cycle}");
        std::fs::write(folder.path().join("rules.json"), written.replace("spine1", "spine9")).unwrap();
        let found = prepared(&by_file, folder.path()).unwrap_err().to_string();
        assert!(found.contains("spine9") && found.contains("scheme.tagger.switch.tagging.rules"), "{found}");
    }

    #[test]
    fn each_switch_changes_its_rules_at_its_own_time_within_the_change() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("new.json"), exported_rules()).unwrap();
        let change = "tagging = { enabled = true, bounces = 0, change = [{ rules = \"new.json\", at = \"1ms\", within = \"1ms\" }] }";
        let of = |change: &str| prepared(&CLOS.replace("tagging.enabled = true", change), folder.path());
        let early = change.replace("}] }", "}, { rules = \"new.json\", at = \"1999us\" }] }");
        let refused = of(&early).expect_err("the second change begins before the end of the first").to_string();
        assert!(refused.contains("change[1].at)"), "{refused}");
        assert!(refused.contains("`1.999ms` is out of range") && refused.contains("2ms or later"), "{refused}");
        let prepared = of(change).unwrap();
        let (fabric, setup) = (&prepared.fabric, &prepared.schemes[1].setup);
        let rules = setup.tags.as_deref().unwrap();
        // By leaf, a packet from the first spine to the second has a rule only after the change.
        let bounces = |leaf: u32, now| {
            let ports: Vec<_> = fabric.ports_of(fabric.switches().nth(leaf as usize).unwrap()).skip(2).collect();
            rules.new_tag(fabric, now, 1, ports[0], ports[1])
        };
        let change_of = |leaf| (1000..=2000).find(|&us| bounces(leaf, Time::us(us)).is_some()).unwrap();
        let times: Vec<u64> = (0..3).map(change_of).collect();
        assert!(times.iter().all(|us| (1001..=2000).contains(us)), "{times:?}");
        assert!(times[0] != times[1] && times[1] != times[2], "{times:?}");
        assert_eq!((bounces(0, Time::us(999)), bounces(0, Time::ms(2))), (None, Some(2)));
        assert_eq!(rules.tags(), 2);
        let said = summary(&setup.params, setup.tags.as_deref()).unwrap();
        assert!(said.ends_with("for up-down paths with 0 bounces, lossy priority 1, 1 change of rules"), "{said}");
    }

    #[test]
    fn what_cannot_be_is_said_where_it_stands() {
        let on = "tagging.enabled = true";
        for (change, place, said) in [
            (("[3, 4]", "[3]"), "(switch.lossless)", "2 lossless priorities are needed, 1 are available"),
            (("[3, 4]", "[3]"), "(switch.lossless)", "packets reach tag 2 on h"),
            ((on, "tagging = { enabled = true, bounces = 7 }"), "tagging.bounces)", "`7` is out of range\n"),
            ((on, "tagging = { enabled = true, lossy_priority = 3 }"), "lossy_priority)", "3 is not possible; 1 to 7"),
            (
                (on, "tagging = { enabled = true, change = [{ rules = \"none.json\", at = \"1ms\" }] }"),
                "tagging.change[0].rules)",
                "cannot read ./none.json",
            ),
            (
                (on, "tagging = { enabled = true, method = \"clos\", paths = \"shortest\" }"),
                "tagging.method)",
                "clos is for up-down paths",
            ),
            ((on, "tagging = { enabled = true, rules = \"none.json\" }"), "tagging.rules)", "cannot read ./none.json"),
            ((on, "watchdog = { enabled = true, poll = \"0s\" }"), "watchdog.poll)", "`0ps` is out of range"),
            ((on, "tagging = { enabled = true, path = \"routes\" }"), "tagging.path)", "did you mean `paths`?"),
        ] {
            let found = refused(change);
            assert!(found.contains(said) && found.contains(place), "{found}");
        }
    }
}
