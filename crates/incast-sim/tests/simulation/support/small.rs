use std::sync::Arc;

use incast_model::fabric::Fabric;
use incast_model::fabric::generators::{Dumbbell, Star};
use incast_model::flow::Flow;
use incast_model::units::{Rate, Time};

use super::{Scheme, flow, ns3_params, run, whole_fcts};

/// Start of ns-3's first flow, in ns.
const START: u64 = 2_000_000_000;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Reference {
    pub(crate) scheme: Scheme,
    /// In ns.
    pub(crate) fct: &'static [u64],
    pub(crate) marks: u64,
}

#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// By rate of every link.
    pub(crate) fabric: fn(Rate) -> Arc<Fabric>,
    pub(crate) flows: Vec<Flow>,
    /// In an idle fabric, in ns.
    pub(crate) standalone: u64,
    pub(crate) reference: [Reference; 4],
    pub(crate) family: &'static [Reference],
}

impl Case {
    pub(crate) fn fabric(&self) -> Arc<Fabric> {
        (self.fabric)(Rate::gbps(100))
    }
}

fn star(hosts: u32, rate: Rate) -> Arc<Fabric> {
    Arc::new(Star { rate, ..Star::new(hosts) }.build().expect("a valid star"))
}

fn dumbbell(rate: Rate) -> Arc<Fabric> {
    Arc::new(
        Dumbbell { host_rate: rate, bottleneck_rate: rate, ..Dumbbell::new(4, 4) }.build().expect("a valid dumbbell"),
    )
}

pub(crate) const fn gave(scheme: Scheme, fct: &'static [u64], marks: u64) -> Reference {
    Reference { scheme, fct, marks }
}

pub(crate) fn check(case: &Case, references: &[Reference]) {
    for reference in references {
        let outcome = run(&case.fabric(), &case.flows, reference.scheme, ns3_params());
        let scheme = reference.scheme.name();
        assert_eq!(whole_fcts(&outcome), reference.fct, "{}, {scheme}", case.name);
        let counts = (outcome.counts.marks, outcome.counts.drops, outcome.counts.pauses);
        assert_eq!(counts, (reference.marks, 0, 0), "{}, {scheme}", case.name);
        for flow in &outcome.flows {
            assert_eq!(flow.ideal_hpcc, Time::ns(case.standalone), "{}", case.name);
        }
    }
}

pub(crate) fn cases() -> [Case; 5] {
    let incast = |senders: u32, size| (0..senders).map(|src| flow(src, senders, size, START, 10_000, 100)).collect();
    // ns-3 rounds binary fractions down: the third is 1 ns early.
    let steps = [0, 100_000, 199_999, 300_000];
    [
        Case {
            name: "one flow, 1 MB",
            fabric: |rate| star(2, rate),
            flows: incast(1, 1_000_000),
            standalone: 88_000,
            reference: [
                gave(Scheme::Dcqcn, &[87_091], 0),
                gave(Scheme::DcqcnWindow, &[87_091], 0),
                gave(Scheme::Hpcc95, &[95_726], 0),
                gave(Scheme::Hpcc99, &[92_057], 0),
            ],
            family: FAMILY[0],
        },
        Case {
            name: "one packet, 1 kB",
            fabric: |rate| star(2, rate),
            flows: incast(1, 1000),
            standalone: 4243,
            reference: [
                gave(Scheme::Dcqcn, &[4174], 0),
                gave(Scheme::DcqcnWindow, &[4174], 0),
                gave(Scheme::Hpcc95, &[4188], 0),
                gave(Scheme::Hpcc99, &[4188], 0),
            ],
            family: FAMILY[1],
        },
        Case {
            name: "2 to 1, 10 MB",
            fabric: |rate| star(3, rate),
            flows: incast(2, 10_000_000),
            standalone: 842_560,
            reference: [
                gave(Scheme::Dcqcn, &[2_120_716, 2_180_079], 166),
                gave(Scheme::DcqcnWindow, &[1_664_008, 1_664_091], 0),
                gave(Scheme::Hpcc95, &[1_842_893, 1_594_745], 0),
                gave(Scheme::Hpcc99, &[1_763_742, 1_774_327], 0),
            ],
            family: FAMILY[2],
        },
        Case {
            name: "16 to 1, 500 kB",
            fabric: |rate| star(17, rate),
            flows: incast(16, 500_000),
            standalone: 46_080,
            reference: SIXTEEN_TO_ONE,
            family: FAMILY[3],
        },
        Case {
            name: "dumbbell, 4 x 5 MB",
            fabric: dumbbell,
            flows: (0..4).map(|i| flow(i, i + 4, 5_000_000, START + steps[i as usize], 10_000, 100)).collect(),
            standalone: 425_440,
            reference: [
                gave(Scheme::Dcqcn, &[1_634_965, 2_012_358, 1_803_774, 2_269_163], 265),
                gave(Scheme::DcqcnWindow, &[1_228_270, 1_428_896, 1_433_145, 1_366_178], 0),
                gave(Scheme::Hpcc95, &[1_687_325, 1_773_562, 1_336_311, 1_154_581], 0),
                gave(Scheme::Hpcc99, &[1_555_463, 1_715_818, 1_500_979, 1_137_219], 0),
            ],
            family: FAMILY[4],
        },
    ]
}

#[rustfmt::skip]
const SIXTEEN_TO_ONE: [Reference; 4] = [
    gave(Scheme::Dcqcn, &[
        852_924, 861_722, 783_702, 820_969, 744_194, 743_779, 793_745, 852_011,
        742_119, 741_621, 823_791, 860_311, 850_600, 850_434, 853_256, 785_030,
    ], 3946),
    gave(Scheme::DcqcnWindow, &[
        668_091, 636_717, 658_546, 634_227, 367_797, 569_819, 550_397, 656_803,
        577_455, 564_175, 667_012, 367_963, 570_400, 570_566, 552_472, 368_046,
    ], 34),
    gave(Scheme::Hpcc95, &[
        647_870, 606_871, 708_550, 681_116, 689_978, 741_410, 721_009, 642_997,
        662_956, 565_574, 663_829, 750_539, 741_062, 745_389, 703_191, 731_163,
    ], 17),
    gave(Scheme::Hpcc99, &[
        732_666, 695_114, 622_637, 698_538, 730_514, 705_982, 692_986, 660_028,
        723_389, 715_145, 686_994, 710_877, 690_609, 687_864, 694_022, 722_954,
    ], 17),
];

/// By case, in the order of [`cases`].
#[rustfmt::skip]
const FAMILY: [&[Reference]; 5] = [
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
