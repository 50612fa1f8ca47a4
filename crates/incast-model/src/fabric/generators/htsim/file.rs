use crate::foreign::Ns3Error;
use crate::nearest::nearest;

type Key = (&'static str, u32, u32);

const HEADER: [Key; 3] = [("Nodes", 2, 1 << 20), ("Tiers", 2, 3), ("Podsize", 1, 1 << 20)];
const TIER: [Key; 9] = [
    ("Downlink_speed_Gbps", 1, 100_000),
    ("Radix_Down", 1, 1 << 16),
    ("Radix_Up", 1, 1 << 16),
    ("Queue_Down", 1, u32::MAX),
    ("Queue_Up", 1, u32::MAX),
    ("Oversubscribed", 1, 1 << 16),
    ("Bundle", 1, 1 << 16),
    ("Switch_Latency_ns", 0, 500_000_000),
    ("Downlink_Latency_ns", 1, 500_000_000),
];

#[derive(Debug, Clone, Copy)]
struct Entry<'a> {
    tier: Option<u32>,
    key: &'static str,
    value: u32,
    line: usize,
    text: &'a str,
}

#[derive(Debug)]
pub(super) struct TopoFile<'a> {
    file: &'a str,
    entries: Vec<Entry<'a>>,
    tiers: Vec<(u32, usize)>,
    lines: usize,
}

impl<'a> TopoFile<'a> {
    /// Parses a header and a block per tier of `Key value` lines. Keys ignore case; `#` begins a comment.
    pub(super) fn parse(text: &'a str, file: &'a str) -> Result<Self, Ns3Error> {
        let mut topo = Self { file, entries: Vec::new(), tiers: Vec::new(), lines: text.lines().count().max(1) };
        for (index, line) in text.lines().enumerate() {
            let mut words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
            let Some(key) = words.next() else { continue };
            topo.row(index + 1, key, words.next())?;
            if let Some(extra) = words.next() {
                let allowed = "one value on each line".into();
                return Err(Ns3Error::Trailing { file: file.into(), line: index + 1, value: extra.into(), allowed });
            }
        }
        Ok(topo)
    }

    fn row(&mut self, line: usize, key: &'a str, value: Option<&'a str>) -> Result<(), Ns3Error> {
        if key.eq_ignore_ascii_case("Tier") {
            let (tier, _) = self.number(line, ("Tier", 0, 2), value)?;
            if self.tiers.iter().any(|&(known, _)| known == tier) {
                return Err(self.wrong(line, "Tier", value.unwrap_or_default(), "tiers that are described once"));
            }
            self.tiers.push((tier, line));
            return Ok(());
        }
        let tier = self.tiers.last().map(|&(tier, _)| tier);
        let keys: &[Key] = if tier.is_some() { &TIER } else { &HEADER };
        let Some(&known) = keys.iter().find(|known| known.0.eq_ignore_ascii_case(key)) else {
            return Err(self.unknown(line, key, keys));
        };
        let (value, text) = self.number(line, known, value)?;
        if let Some(first) = self.find(tier, known.0) {
            let allowed = format!("once; it is set on line {} already", first.line);
            return Err(self.wrong(line, known.0, text, &allowed));
        }
        self.entries.push(Entry { tier, key: known.0, value, line, text });
        Ok(())
    }

    fn number(&self, line: usize, key: Key, text: Option<&'a str>) -> Result<(u32, &'a str), Ns3Error> {
        let (name, least, most) = key;
        let allowed = format!("an integer from {least} to {most}");
        let text = text.ok_or_else(|| self.wrong(line, name, "", &allowed))?;
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(value) if digits && (least..=most).contains(&value) => Ok((value, text)),
            _ => Err(self.wrong(line, name, text, &allowed)),
        }
    }

    fn unknown(&self, line: usize, key: &str, keys: &[Key]) -> Ns3Error {
        let names: Vec<&str> = keys.iter().map(|key| key.0).chain(["Tier"]).collect();
        Ns3Error::Value {
            file: self.file.into(),
            line,
            at: None,
            field: "the key".into(),
            value: key.into(),
            allowed: names.join(", ").into(),
            nearest: nearest(key, names).map(Into::into),
        }
    }

    fn wrong(&self, line: usize, field: &str, value: &str, allowed: &str) -> Ns3Error {
        Ns3Error::Value {
            file: self.file.into(),
            line,
            at: None,
            field: field.into(),
            value: value.into(),
            allowed: allowed.into(),
            nearest: None,
        }
    }

    fn find(&self, tier: Option<u32>, key: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|entry| entry.tier == tier && entry.key == key)
    }

    fn need(&self, tier: Option<u32>, key: &str) -> Result<u32, Ns3Error> {
        self.find(tier, key).map(|entry| entry.value).ok_or_else(|| {
            let field = tier.map_or_else(|| key.to_owned(), |tier| format!("{key} of tier {tier}"));
            let limits = HEADER.iter().chain(&TIER).find(|known| known.0 == key);
            let allowed = limits.map(|known| format!("an integer from {} to {}", known.1, known.2)).unwrap_or_default();
            Ns3Error::Truncated {
                file: self.file.into(),
                line: self.lines,
                field: field.into(),
                allowed: allowed.into(),
            }
        })
    }

    pub(super) fn header(&self, key: &str) -> Result<u32, Ns3Error> {
        self.need(None, key)
    }

    pub(super) fn tier(&self, tier: u32, key: &str) -> Result<u32, Ns3Error> {
        self.need(Some(tier), key)
    }

    pub(super) fn or(&self, tier: u32, key: &str, otherwise: u32) -> u32 {
        self.find(Some(tier), key).map_or(otherwise, |entry| entry.value)
    }

    pub(super) fn has(&self, tier: u32, key: &str) -> bool {
        self.find(Some(tier), key).is_some()
    }

    pub(super) fn holds(
        &self,
        holds: bool,
        tier: Option<u32>,
        key: &str,
        allowed: impl Fn() -> String,
    ) -> Result<(), Ns3Error> {
        match self.find(tier, key) {
            Some(entry) if !holds => Err(self.wrong(entry.line, key, entry.text, &allowed())),
            _ => Ok(()),
        }
    }

    /// Fabrics have no buffers of single ports.
    pub(super) fn refuse_queues(&self) -> Result<(), Ns3Error> {
        match self.entries.iter().find(|entry| entry.key.starts_with("Queue")) {
            None => Ok(()),
            Some(queue) => {
                let allowed = "omitted: ports share `switch.buffer`; `ignore_queues = true` ignores it";
                Err(self.wrong(queue.line, queue.key, queue.text, allowed))
            }
        }
    }

    pub(super) fn refuse_above(&self, top: u32) -> Result<(), Ns3Error> {
        if let Some(&(tier, line)) = self.tiers.iter().find(|&&(tier, _)| tier > top) {
            return Err(self.wrong(line, "Tier", &tier.to_string(), &format!("0 to {top}, the number of Tiers")));
        }
        let up = |entry: &&Entry<'_>| match entry.key {
            "Radix_Up" | "Queue_Up" => true,
            "Oversubscribed" => entry.value != 1,
            _ => false,
        };
        match self.entries.iter().filter(|entry| entry.tier == Some(top)).find(up) {
            None => Ok(()),
            Some(entry) => {
                Err(self.wrong(entry.line, entry.key, entry.text, "omitted: no link leads up from the top tier"))
            }
        }
    }
}
