//! Calls over simulated memory.

use super::*;
use crate::list::Link;
use crate::pager::{Limit, Policy};

const PAGES: u32 = 256;

/// Pages without content: the pager handles that.
#[derive(Debug, Default)]
struct Played {
    protection: Vec<u32>,
    mapped: Vec<bool>,
    renewed: Vec<Extent>,
    locked: Vec<u32>,
    out_of_memory: bool,
}

impl Memory for Played {
    fn zero(&mut self, page: u32, _: bool) -> bool {
        self.mapped[page as usize] = true;
        true
    }
    fn fill(&mut self, page: u32, _: bool) -> bool {
        self.mapped[page as usize] = true;
        true
    }
    fn is_there(&self, pages: Extent) -> bool {
        pages.pages().all(|page| self.mapped[page as usize])
    }
    fn guard(&mut self, _: Extent) -> bool {
        true
    }
    fn unguard(&mut self, _: u32) {}
    fn save(&mut self, _: Extent) -> bool {
        true
    }
    fn is_empty(&self, _: u32) -> bool {
        false
    }
    fn unmap(&mut self, pages: Extent, locked: bool) -> bool {
        for page in pages.pages() {
            if !locked && self.locked.contains(&page) {
                return false;
            }
            self.mapped[page as usize] = false;
        }
        true
    }
    fn forget(&mut self, _: Extent) {}
    fn carry(&mut self, _: Extent, _: u32) {}
    fn wake(&mut self, _: u32) {}
}

impl Ground for Played {
    fn protect(&mut self, pages: Extent, protection: u32) -> bool {
        if !self.out_of_memory {
            pages.pages().for_each(|page| self.protection[page as usize] = protection);
        }
        !self.out_of_memory
    }
    fn close(&mut self, pages: Extent) {
        pages.pages().for_each(|page| self.protection[page as usize] = 0);
    }
    fn renew(&mut self, pages: Extent) {
        self.renewed.push(pages);
        self.locked.retain(|page| !pages.pages().contains(page));
        pages.pages().for_each(|page| self.mapped[page as usize] = false);
        self.close(pages);
    }
}

fn table<T: Default>(len: u32) -> &'static mut [T] {
    Box::leak((0..len).map(|_| T::default()).collect())
}

fn heap() -> Heap<Played> {
    let memory =
        Played { protection: vec![0; PAGES as usize], mapped: vec![false; PAGES as usize], ..Played::default() };
    let pager = Pager::new(memory, (table(PAGES), table::<Link>(PAGES)), Policy::Fifo, Limit::Pages(PAGES.into()));
    Heap::new(pager, Space::new(table(PAGES), PAGES), table(PAGES))
}

impl Heap<Played> {
    fn open(&self) -> Vec<u32> {
        (0..PAGES).filter(|page| self.pager.memory.protection[*page as usize] != 0).collect()
    }

    fn size(&self, first: usize) -> u32 {
        self.sizes[first].load(Ordering::Relaxed)
    }

    fn touch(&mut self, pages: std::ops::Range<u32>) {
        for page in pages {
            self.pager.fault(page, true);
        }
    }
}

#[test]
fn what_is_given_back_is_closed_and_empty() {
    let mut heap = heap();
    assert_eq!(heap.answer(Call::Allocate { count: 3, align: 1 }), Some(0));
    assert_eq!(heap.answer(Call::Allocate { count: 2, align: 4 }), Some(4));
    assert_eq!(heap.open(), [0, 1, 2, 4, 5]);
    heap.touch(0..3);
    assert_eq!(heap.size(0), 3);
    heap.answer(Call::Free { first: 0 });
    assert_eq!((heap.open(), heap.pager.counts().footprint), (vec![4, 5], 0));
    assert_eq!(heap.answer(Call::Allocate { count: 4, align: 1 }), Some(0));
}

#[test]
fn an_allocation_grows_in_place_if_it_can() {
    let mut heap = heap();
    heap.answer(Call::Allocate { count: 3, align: 1 });
    heap.touch(0..3);
    assert_eq!(heap.answer(Call::Resize { first: 0, count: 5 }), Some(0));
    assert_eq!(heap.answer(Call::Allocate { count: 1, align: 1 }), Some(5));
    assert_eq!(heap.answer(Call::Resize { first: 0, count: 6 }), Some(6));
    assert_eq!(heap.open(), [5, 6, 7, 8, 9, 10, 11]);
    assert_eq!((heap.pager.counts().footprint, heap.pager.local()), (3, 3));
    assert_eq!((heap.size(6), heap.size(0)), (6, 0));
    assert_eq!(heap.answer(Call::Resize { first: 6, count: 1 }), Some(6));
    assert_eq!((heap.open(), heap.pager.counts().footprint), (vec![5, 6], 1));
}

#[test]
fn pages_that_may_not_move_stay() {
    let mut heap = heap();
    heap.answer(Call::Map { count: 3, protection: 3 });
    heap.answer(Call::Map { count: 1, protection: 1 });
    let pages = Extent::new(0, 3);
    assert_eq!(heap.answer(Call::Remap { pages, count: 6, moves: false }), None);
    assert_eq!(heap.open(), [0, 1, 2, 3]);
    assert_eq!(heap.answer(Call::Remap { pages, count: 6, moves: true }), Some(4));
}

#[test]
fn no_memory_is_an_answer() {
    let mut heap = heap();
    assert_eq!(heap.answer(Call::Allocate { count: PAGES + 1, align: 1 }), None);
    heap.pager.memory.out_of_memory = true;
    assert_eq!(heap.answer(Call::Allocate { count: 3, align: 1 }), None);
    heap.pager.memory.out_of_memory = false;
    assert_eq!(heap.answer(Call::Allocate { count: 3, align: 1 }), Some(0));
}

#[test]
fn what_is_mapped_over_ours_is_not_ours_until_it_is_unmapped() {
    let mut heap = heap();
    heap.answer(Call::Map { count: 8, protection: 0 });
    heap.answer(Call::MapAt { pages: Extent::new(2, 4), protection: 3 });
    assert_eq!(heap.open(), [2, 3, 4, 5]);
    heap.touch(2..6);
    heap.answer(Call::HandOver { pages: Extent::new(3, 2) });
    assert_eq!(heap.pager.counts().footprint, 2);
    heap.answer(Call::Unmap { pages: Extent::new(0, 8) });
    assert_eq!(heap.pager.memory.renewed, [Extent::new(0, 8)]);
    assert_eq!((heap.open(), heap.pager.counts().footprint), (vec![], 0));
}

#[test]
fn a_place_that_nobody_handed_out_is_taken() {
    let mut heap = heap();
    heap.answer(Call::MapAt { pages: Extent::new(1, 2), protection: 3 });
    assert_eq!(heap.answer(Call::Allocate { count: 2, align: 1 }), Some(3));
}

#[test]
fn locked_pages_go_with_their_lock_when_they_are_given_back() {
    let mut heap = heap();
    heap.answer(Call::Allocate { count: 8, align: 1 });
    heap.touch(0..8);
    heap.pager.memory.locked = vec![4, 5];
    let discard = |locked| Call::Discard { pages: Extent::new(0, 8), locked };
    assert_eq!(heap.answer(discard(false)), None);
    assert_eq!(heap.pager.counts().footprint, 4, "those before them are empty");
    assert_eq!(heap.answer(discard(true)), Some(0));
    assert_eq!(heap.pager.counts().footprint, 0);
    heap.touch(0..8);
    heap.answer(Call::Free { first: 0 });
    assert_eq!(heap.pager.memory.renewed, [Extent::new(0, 8)]);
    assert!(heap.pager.memory.locked.is_empty() && !heap.pager.memory.mapped.contains(&true));
    assert_eq!((heap.open(), heap.pager.counts().footprint), (vec![], 0));
}

#[test]
fn a_thread_that_forks_has_its_stack() {
    let mut heap = heap();
    assert_eq!(heap.around(Call::ELSEWHERE).count(), 0);
    assert_eq!(heap.around(3).collect::<Vec<_>>(), (1..19).collect::<Vec<_>>());
    assert_eq!(heap.around(250).last(), Some(PAGES - 1));
    heap.answer(Call::Allocate { count: 8, align: 1 });
    heap.touch(0..8);
    assert!(!(0..20).any(|page| heap.hold(page)), "they are there");
    assert_eq!(heap.pager.counts().footprint, 8, "and what is free stays so");
}
