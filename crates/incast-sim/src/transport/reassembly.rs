use super::ranges::Ranges;
use crate::kernel::Range;

#[derive(Debug, Clone, Default)]
pub(crate) struct Reassembly {
    next: u64,
    beyond: Ranges,
}

impl Reassembly {
    pub(crate) fn take(&mut self, seq: u64, len: u64) -> u64 {
        let (start, end) = (seq.max(self.next), seq + len);
        if start >= end {
            return 0;
        }
        if start > self.next {
            return self.beyond.insert(start, end);
        }
        if self.beyond.is_empty() {
            self.next = end;
            return end - start;
        }
        let new = self.beyond.insert(start, end);
        self.next = self.beyond.first_missing(start);
        self.beyond.forget_before(self.next);
        new
    }

    /// First missing byte: the cumulative ACK.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn beyond(&self) -> &[Range] {
        self.beyond.as_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_filled() {
        let mut stream = Reassembly::default();
        assert_eq!([stream.take(0, 10), stream.take(20, 10), stream.take(40, 10)], [10, 10, 10]);
        assert_eq!((stream.next(), stream.beyond()), (10, &[(20, 30), (40, 50)][..]));
        assert_eq!([stream.take(20, 10), stream.take(5, 3)], [0, 0], "duplicates");
        assert_eq!((stream.take(5, 20), stream.next()), (10, 30), "over both edges of the gap");
        assert_eq!((stream.take(30, 10), stream.next()), (10, 50));
        assert!(stream.beyond().is_empty());
    }
}
