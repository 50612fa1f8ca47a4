use super::error::ElpError;
use super::routed::Routed;
use super::shortest::{Scratch, Target, targets};
use super::towards::Towards;
use super::{Elp, ShortestPaths};
use crate::wiring::Wiring;

#[derive(Debug)]
pub(crate) struct Destinations<'a, 'f> {
    wiring: &'a Wiring<'f>,
    kind: Kind<'a>,
}

#[derive(Debug)]
enum Kind<'a> {
    None,
    Shortest(&'a ShortestPaths, Vec<Target>),
    Routed(Routed<'a>),
}

#[derive(Debug)]
pub(crate) struct Tables(Scratch, Towards);

impl<'a, 'f> Destinations<'a, 'f> {
    /// Empty if paths depend on more than the destination.
    pub(crate) fn new(wiring: &'a Wiring<'f>, elp: &'a Elp<'a>) -> Self {
        let kind = match elp {
            Elp::Shortest(paths) => Kind::Shortest(paths, targets(wiring)),
            Elp::Routes(routes) => Kind::Routed(Routed::new(wiring, routes)),
            Elp::Paths(_) | Elp::UpDown(_) => Kind::None,
        };
        Self { wiring, kind }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.kind {
            Kind::None => 0,
            Kind::Shortest(_, targets) => targets.len(),
            Kind::Routed(routed) => routed.classes.len(),
        }
    }

    pub(crate) fn tables(&self) -> Tables {
        Tables(Scratch::new(self.wiring), Towards::default())
    }

    /// Calls `each` once, or per host with its own tree.
    pub(crate) fn each(&self, at: usize, tables: &mut Tables, each: &mut dyn FnMut(&Towards)) -> Result<(), ElpError> {
        match &self.kind {
            Kind::None => {}
            Kind::Shortest(paths, targets) => paths.towards(self.wiring, targets[at], &mut tables.0, each),
            Kind::Routed(routed) => {
                routed.towards(self.wiring, at, &mut tables.1)?;
                each(&tables.1);
            }
        }
        Ok(())
    }
}
