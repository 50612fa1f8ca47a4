//! Region in this process, if permitted. No test faults in it: no handler would answer.

use super::*;

const PAGES: u32 = 64;

/// Accessible region; `None` without permission.
fn region() -> Option<Region> {
    let region = Region::new(PAGES).ok()?;
    assert!(region.served.protect(Extent::new(1, PAGES - 1), libc::PROT_READ | libc::PROT_WRITE));
    Some(region)
}

fn held(region: &Region, page: u32) -> Option<Vec<u8>> {
    let mut bytes = vec![0; PAGE];
    let there = region.is_there(Extent::new(page, 1));
    there.then(|| assert_eq!(sys::read(region.served.place(Extent::new(page, 1))[0], &mut bytes), PAGE)).map(|()| bytes)
}

#[test]
fn a_page_goes_to_the_store_and_comes_back() {
    let Some(mut region) = region() else { return };
    let two = Extent::new(7, 2);
    region.store[copies(two)].fill(5);
    assert_eq!(held(&region, 7), None);
    assert!(region.fill(7, true) && region.fill(8, false));
    assert!(region.fill(8, false), "it is there already");
    assert_eq!(held(&region, 7), Some(vec![5; PAGE]));

    region.store[copies(two)].fill(0);
    assert!(region.guard(two) && region.save(two) && region.unmap(two, false));
    assert_eq!((held(&region, 7), held(&region, 8)), (None, None));
    assert!(region.copied(7).iter().chain(region.copied(8)).all(|byte| *byte == 5));
    assert!(!region.is_empty(8));
}

#[test]
fn an_empty_page_reads_as_zeros() {
    let Some(mut region) = region() else { return };
    assert!(region.zero(3, false) && region.zero(4, true));
    assert_eq!([3, 4].map(|page| held(&region, page)), [Some(vec![0; PAGE]), Some(vec![0; PAGE])]);
    region.renew(Extent::new(3, 2));
    assert_eq!([3, 4].map(|page| held(&region, page)), [None, None]);
}

#[test]
fn a_closed_page_is_read_and_stays_closed() {
    let Some(mut region) = region() else { return };
    region.store[copies(Extent::new(9, 1))].fill(6);
    assert!(region.fill(9, false));
    region.close(Extent::new(9, 1));
    region.store[copies(Extent::new(9, 1))].fill(0);
    let address = region.served.place(Extent::new(9, 1))[0];
    assert_eq!(sys::read(address, &mut [0; 8]), 0);
    assert!(region.save(Extent::new(9, 1)), "by another way");
    assert!(region.copied(9).iter().all(|byte| *byte == 6));
}

#[test]
fn copies_are_moved_and_forgotten() {
    let Some(mut region) = region() else { return };
    region.store[copies(Extent::new(10, 1))].fill(1);
    region.store[copies(Extent::new(11, 1))].fill(2);
    region.carry(Extent::new(10, 2), 20);
    assert!(region.is_empty(10) && region.is_empty(11));
    assert_eq!((region.copied(20)[0], region.copied(21)[PAGE - 1]), (1, 2));
    region.forget(Extent::new(20, 1));
    assert!(region.is_empty(20) && !region.is_empty(21));
}

#[test]
#[should_panic(expected = "of 64")]
fn a_page_behind_the_last_is_refused() {
    match region() {
        Some(region) => drop(region.served.advise(Extent::new(PAGES - 1, 2), libc::MADV_DONTNEED)),
        None => panic!("of 64"),
    }
}

#[test]
fn memory_that_moves_out_is_copied() {
    let from = sys::table::<u8>(3 * PAGE).unwrap();
    from.fill(9);
    let address = sys::copied(from.as_ptr().addr(), 2 * PAGE, 4 * PAGE).unwrap();
    let mut bytes = vec![1; 4 * PAGE];
    assert_eq!(sys::read(address, &mut bytes), 4 * PAGE);
    assert_eq!(bytes, [[9; 2 * PAGE], [0; 2 * PAGE]].as_flattened());
    assert!(sys::copied(1 << 12, PAGE, PAGE).is_err(), "nothing is there");
}
