use arbitrary::Unstructured;

const RATES: [u64; 6] = [100, 10, 25, 40, 1, 400];
/// In ns.
const DELAYS: [u64; 6] = [1000, 0, 1, 200, 5000, 50_000];
/// In ns.
const STARTS: [u64; 5] = [0, 1, 777, 5000, 40_000];
const SIZES: [u64; 8] = [20_000, 1, 999, 1000, 1001, 4096, 100_000, 300_000];

/// Choices made by bytes. Without bytes, every choice is the first.
pub(super) struct Draw<'a>(Unstructured<'a>);

impl<'a> Draw<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    /// Both ends included.
    pub(super) fn within(&mut self, least: u64, most: u64) -> u64 {
        self.0.int_in_range(least..=most.max(least)).unwrap_or(least)
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.within(0, all.len() as u64 - 1) as usize]
    }

    /// True once in `cases` times.
    pub(super) fn rarely(&mut self, cases: u64) -> bool {
        self.within(1, cases) == cases
    }

    pub(super) fn rate(&mut self) -> String {
        format!("\"{}Gbps\"", self.one_of(&RATES))
    }

    pub(super) fn delay(&mut self) -> String {
        format!("\"{}ns\"", self.one_of(&DELAYS))
    }

    pub(super) fn start(&mut self) -> String {
        format!("\"{}ns\"", self.one_of(&STARTS))
    }

    pub(super) fn size(&mut self) -> String {
        format!("\"{}B\"", self.one_of(&SIZES))
    }
}
