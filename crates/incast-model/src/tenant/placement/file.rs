use std::path::Path;

use super::listed::{RULE, in_order, slots};
use crate::entry::EntryError;
use crate::fabric::{Fabric, HostId};
use crate::input;

const COLUMNS: [&str; 3] = ["tenant", "vm", "slot"];

#[derive(Debug)]
pub(in crate::tenant) struct Table {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    line: usize,
    at: [usize; 3],
    tenant: String,
    vm: String,
    slot: String,
}

impl Table {
    pub(in crate::tenant) fn read(file: &Path, field: &str) -> Result<Self, EntryError> {
        let text = input::read_text(file, input::DOCUMENT).map_err(|why| EntryError::unreadable(field, file, why))?;
        let mut lines = (1..).zip(text.strip_prefix('\u{feff}').unwrap_or(&text).lines());
        let (_, header) = lines.next().unwrap_or((1, ""));
        let columns = columns(header, file)?;
        let mut rows = Vec::new();
        for (line, text) in lines.filter(|(_, text)| !text.trim().is_empty()) {
            let cells = cells(text);
            if cells.len() != 3 {
                let allowed = format!("3 cells, as in the header; there are {}", cells.len());
                return Err(refuse(file, (line, 1), text.trim(), allowed));
            }
            let [tenant, vm, slot] = columns.map(|column| cells[column].1.to_owned());
            rows.push(Row { line, at: columns.map(|column| cells[column].0), tenant, vm, slot });
        }
        Ok(Self { rows })
    }

    pub(in crate::tenant) fn count(&self, tenant: &str, file: &Path, field: &str) -> Result<usize, EntryError> {
        match self.rows.iter().filter(|row| row.tenant == tenant).count() {
            0 => {
                let allowed = format!("a file with rows of tenant {tenant}");
                Err(EntryError::field(field, file.display(), allowed))
            }
            count => Ok(count),
        }
    }

    pub(in crate::tenant) fn slots(
        &self,
        tenant: &str,
        fabric: &Fabric,
        file: &Path,
        taken: impl Fn(HostId) -> Option<String>,
    ) -> Result<Vec<HostId>, EntryError> {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.tenant == tenant).collect();
        let (known, mut found) = (slots(fabric), vec![None; rows.len()]);
        for row in rows {
            let vm = row.vm.parse::<usize>().ok().filter(|&vm| vm < found.len());
            let Some(vm) = vm.filter(|&vm| found[vm].is_none()) else {
                let allowed = format!("the number of a VM of {tenant}, 0 to {}, each once", found.len() - 1);
                return Err(refuse(file, (row.line, row.at[1]), &row.vm, allowed));
            };
            let refuse = |allowed: String| refuse(file, (row.line, row.at[2]), &row.slot, allowed);
            let Some(&host) = known.get(row.slot.as_str()) else {
                return Err(refuse(RULE.to_owned()).near(in_order(fabric)));
            };
            if let Some(who) = taken(host) {
                return Err(refuse(format!("a free slot: {who} uses it")));
            }
            if found.contains(&Some(host)) {
                return Err(refuse(format!("a slot that no other VM of {tenant} has")));
            }
            found[vm] = Some(host);
        }
        Ok(found.into_iter().flatten().collect())
    }
}

fn refuse(file: &Path, (line, column): (usize, usize), value: &str, allowed: String) -> EntryError {
    EntryError::File { file: file.into(), line, column, value: value.into(), allowed, nearest: None }
}

/// Cells with first column in characters, from 1.
fn cells(line: &str) -> Vec<(usize, &str)> {
    let mut column = 1;
    let cell = |cell: &'_ str| {
        let begin = column + cell.chars().take_while(|c| c.is_whitespace()).count();
        column += cell.chars().count() + 1;
        begin
    };
    line.split(',').map(str::trim).zip(line.split(',').map(cell)).map(|(text, at)| (at, text)).collect()
}

fn columns(header: &str, file: &Path) -> Result<[usize; 3], EntryError> {
    let cells = cells(header);
    let rule = format!("a column of a placement, each once: {}", COLUMNS.join(", "));
    for (nth, (at, name)) in cells.iter().enumerate() {
        let again = cells[..nth].iter().any(|(_, other)| other == name);
        if again || !COLUMNS.contains(name) {
            return Err(refuse(file, (1, *at), name, rule).near(COLUMNS));
        }
    }
    let place = |wanted| cells.iter().position(|(_, name)| *name == wanted);
    match COLUMNS.map(place) {
        [Some(tenant), Some(vm), Some(slot)] => Ok([tenant, vm, slot]),
        _ => Err(refuse(file, (1, 1), header.trim(), format!("a header with the columns {}", COLUMNS.join(", ")))),
    }
}
