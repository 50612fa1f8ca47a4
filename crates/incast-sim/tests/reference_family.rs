//! Small cases give the completion times of the HPCC authors' ns-3 (commit 9f4be2a), to the nanosecond, for the rest of
//! the family: HPCC-PINT, TIMELY and DCTCP. Their random numbers included: ECN's, and PINT's, which are C's `rand()`.

mod support;

use support::Scheme;
use support::small::{self, Reference, cases, gave};

/// By case, in the order of [`cases`].
#[rustfmt::skip]
const REFERENCE: [&[Reference]; 5] = [
    &[
        gave(Scheme::Pint95, &[91_402], 0),
        gave(Scheme::Pint99, &[88_925], 0),
        gave(Scheme::Timely, &[88_092], 0),
        gave(Scheme::TimelyWindow, &[88_092], 0),
        gave(Scheme::Dctcp, &[87_091], 0),
    ],
    &[
        gave(Scheme::Pint95, &[4174], 0),
        gave(Scheme::Pint99, &[4174], 0),
        gave(Scheme::Timely, &[4176], 0),
        gave(Scheme::TimelyWindow, &[4176], 0),
        gave(Scheme::Dctcp, &[4174], 0),
    ],
    &[
        gave(Scheme::Pint95, &[1_759_947, 1_777_765], 0),
        gave(Scheme::Pint99, &[1_716_346, 1_455_771], 0),
        gave(Scheme::Timely, &[2_049_746, 1_973_739], 504),
        gave(Scheme::TimelyWindow, &[1_684_008, 1_684_092], 0),
        gave(Scheme::Dctcp, &[1_664_008, 1_664_091], 0),
    ],
    &[
        gave(Scheme::Pint95, &[
            715_581, 648_012, 696_757, 648_759, 707_646, 711_579, 668_437, 678_903,
            680_857, 714_677, 725_469, 656_474, 697_844, 625_808, 701_718, 690_861,
        ], 16),
        gave(Scheme::Pint99, &[
            704_794, 623_340, 695_243, 695_077, 672_363, 662_579, 683_934, 689_360,
            636_517, 685_157, 640_373, 662_662, 685_757, 650_629, 684_100, 637_845,
        ], 16),
        gave(Scheme::Timely, &[
            674_832, 674_916, 675_000, 675_084, 675_168, 675_252, 675_336, 675_420,
            675_504, 675_588, 675_672, 675_756, 675_840, 675_924, 676_008, 676_092,
        ], 6499),
        gave(Scheme::TimelyWindow, &[
            717_024, 720_888, 724_500, 725_004, 725_340, 725_592, 725_760, 725_928,
            726_012, 726_264, 726_432, 726_600, 726_852, 729_120, 729_288, 729_372,
        ], 70),
        gave(Scheme::Dctcp, &[
            666_846, 666_929, 667_012, 667_095, 667_178, 667_261, 667_344, 667_427,
            667_510, 667_593, 667_676, 667_759, 667_842, 667_925, 668_008, 668_091,
        ], 961),
    ],
    &[
        gave(Scheme::Pint95, &[1_682_398, 1_691_564, 1_329_598, 1_163_844], 0),
        gave(Scheme::Pint99, &[1_737_709, 1_578_339, 1_370_265, 789_084], 0),
        gave(Scheme::Timely, &[1_815_113, 1_893_308, 1_350_155, 1_176_906], 7039),
        gave(Scheme::TimelyWindow, &[1_250_640, 1_447_244, 1_452_749, 1_386_180], 0),
        gave(Scheme::Dctcp, &[1_228_270, 1_428_896, 1_433_145, 1_366_178], 0),
    ],
];

fn check(number: usize) {
    small::check(&cases()[number], REFERENCE[number]);
}

#[test]
fn one_flow() {
    check(0);
}

#[test]
fn one_packet() {
    check(1);
}

#[test]
fn two_to_one() {
    check(2);
}

#[test]
fn sixteen_to_one() {
    check(3);
}

#[test]
fn dumbbell() {
    check(4);
}
