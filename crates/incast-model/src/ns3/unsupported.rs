use super::config::Ns3Config;
use super::values::CcMode;
use crate::foreign::{Notice, Severity};
use crate::units::Time;

impl Ns3Config {
    /// Settings that incast does not support or need, by line: errors if results would differ, otherwise warnings.
    pub fn not_honoured(&self) -> Vec<Notice> {
        use Severity::{Error, Warning};
        let mut notices = Vec::new();
        let mut note = |applies: bool, key: &str, severity, text: &str| {
            if applies {
                let line = self.line(key).unwrap_or(0);
                notices.push(Notice { file: self.file.clone(), line, severity, text: format!("{key}: {text}") });
            }
        };
        note(
            self.failure().is_some(),
            "LINK_DOWN",
            Warning,
            "becomes network.failure; the scenario uses exact arithmetic, because ns3 arithmetic has no link failures",
        );
        let lossy = self.error_rate.is_some_and(|rate| rate > 0.0);
        note(lossy, "ERROR_RATE_PER_LINK", Error, "random loss on links is not supported; allowed: 0");
        let per_packet = self.ack_interval.is_none_or(|bytes| bytes == 1);
        note(!per_packet, "L2_ACK_INTERVAL", Error, "only one ACK for each packet is supported; allowed: 1");
        let chunks = self.back_to_zero == Some(true);
        note(chunks, "L2_BACK_TO_ZERO", Error, "only go-back-N is supported; allowed: 0");
        // No other control reads it (`rdma-hw.cc`).
        let hpcc = self.cc_mode == Some(CcMode::Hpcc);
        let per_hop = hpcc && self.multi_rate == Some(true);
        note(per_hop, "MULTI_RATE", Error, "only one rate for all hops is supported; allowed: 0");
        let unset =
            "is not set: the original has one rate for each hop by default, incast one for all, as the authors' run.py";
        note(hpcc && self.multi_rate.is_none(), "MULTI_RATE", Warning, unset);
        let windowless = hpcc && self.has_window == Some(false);
        note(windowless, "HAS_WIN", Error, "the original's HPCC divides by the window, here 0; allowed: 1");
        let own_rtt = self.global_t == Some(false);
        note(own_rtt, "GLOBAL_T", Error, "only one base RTT for all pairs is supported; allowed: 1");
        let unpaced = self.rate_bound == Some(false);
        note(unpaced, "RATE_BOUND", Error, "flows without pacing are not supported; allowed: 1");
        for (key, interval) in self.intervals() {
            let cut = whole_microseconds(interval);
            note(cut == Time::ZERO, key, Error, "the original counts whole microseconds; allowed: 1 or more");
            let text = format!("rounded down to {cut}, as in the original");
            note(cut != interval && cut != Time::ZERO, key, Warning, &text);
        }
        let static_threshold = self.dynamic_pfc_threshold == Some(false);
        note(
            static_threshold,
            "USE_DYNAMIC_PFC_THRESHOLD",
            Warning,
            "the original ignores it: its threshold is always dynamic",
        );
        let ignored = "has no effect in the original either";
        note(self.pause_time.is_some(), "PAUSE_TIME", Warning, ignored);
        note(self.data_rate.is_some(), "DATA_RATE", Warning, ignored);
        note(self.link_delay.is_some(), "LINK_DELAY", Warning, ignored);
        let traced = self.enable_trace == Some(true);
        note(traced, "ENABLE_TRACE", Warning, "the original's packet trace is not written");
        notices.sort_by_key(|notice| notice.line);
        notices
    }

    /// Timers of the chosen control.
    fn intervals(&self) -> Vec<(&'static str, Time)> {
        let of_dcqcn = [
            ("ALPHA_RESUME_INTERVAL", self.alpha_interval),
            ("RATE_DECREASE_INTERVAL", self.decrease_interval),
            ("RP_TIMER", self.increase_interval),
        ];
        let is_dcqcn = self.cc_mode.is_none_or(|mode| mode == CcMode::Dcqcn);
        let given = |(key, interval): (_, Option<Time>)| interval.filter(|_| is_dcqcn).map(|interval| (key, interval));
        of_dcqcn.into_iter().filter_map(given).collect()
    }
}

/// `rdma-hw.cc` gives doubles to MicroSeconds, which takes integers.
pub const fn whole_microseconds(time: Time) -> Time {
    Time(time.0 / 1_000_000 * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::super::config::parse_config;
    use crate::foreign::Severity;

    #[test]
    fn what_cannot_be_honoured_is_located() {
        let text =
            "MULTI_RATE 1\nLINK_DOWN 5 320 340\nERROR_RATE_PER_LINK 0.001\nENABLE_TRACE 1\nHAS_WIN 1\nCC_MODE 3\n";
        let lines: Vec<String> =
            parse_config(text, "c.txt").unwrap().not_honoured().iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "c.txt:1: error: MULTI_RATE: only one rate for all hops is supported; allowed: 0",
                "c.txt:2: warning: LINK_DOWN: becomes network.failure; the scenario uses exact arithmetic, because ns3 \
                 arithmetic has no link failures",
                "c.txt:3: error: ERROR_RATE_PER_LINK: random loss on links is not supported; allowed: 0",
                "c.txt:4: warning: ENABLE_TRACE: the original's packet trace is not written",
            ]
        );
    }

    #[test]
    fn timers_are_whole_microseconds() {
        let notices = |value: &str| {
            let config = parse_config(&format!("RP_TIMER {value}\n"), "c.txt").unwrap();
            config.not_honoured().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(notices("300"), Vec::<String>::new());
        assert_eq!(notices("1.5"), ["c.txt:1: warning: RP_TIMER: rounded down to 1us, as in the original"]);
        assert!(notices("0.5")[0].ends_with("allowed: 1 or more"));
    }

    #[test]
    fn only_hpcc_has_a_rate_for_each_hop() {
        let found = |text: &str| {
            let notices = parse_config(text, "c.txt").unwrap().not_honoured();
            notices.first().map(|notice| notice.severity)
        };
        assert_eq!(["CC_MODE 1\nMULTI_RATE 1\n", "CC_MODE 3\nMULTI_RATE 0\n"].map(found), [None, None]);
        assert_eq!(found("CC_MODE 3\n"), Some(Severity::Warning));
    }

    #[test]
    fn the_defaults_of_the_authors_script_are_honoured() {
        let text = "CC_MODE 3\nLINK_DOWN 0 0 0\nERROR_RATE_PER_LINK 0.0000\nL2_ACK_INTERVAL 1\n\
                    L2_BACK_TO_ZERO 0\nMULTI_RATE 0\nSAMPLE_FEEDBACK 0\nUSE_DYNAMIC_PFC_THRESHOLD 1\nENABLE_TRACE 0\n";
        assert_eq!(parse_config(text, "c.txt").unwrap().not_honoured(), []);
    }
}
