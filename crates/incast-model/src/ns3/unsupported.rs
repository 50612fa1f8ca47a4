use super::config::Ns3Config;
use crate::foreign::{Notice, Severity};

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
        let per_packet = self.ack_interval.is_none_or(|packets| packets == 1);
        note(!per_packet, "L2_ACK_INTERVAL", Error, "only one ACK for each packet is supported; allowed: 1");
        let chunks = self.back_to_zero == Some(true);
        note(chunks, "L2_BACK_TO_ZERO", Error, "only go-back-N is supported; allowed: 0");
        let per_hop = self.multi_rate == Some(true);
        note(per_hop, "MULTI_RATE", Error, "only one rate for all hops is supported; allowed: 0");
        let own_rtt = self.global_t == Some(false);
        note(own_rtt, "GLOBAL_T", Error, "only one base RTT for all pairs is supported; allowed: 1");
        let unpaced = self.rate_bound == Some(false);
        note(unpaced, "RATE_BOUND", Error, "flows without pacing are not supported; allowed: 1");
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
}

#[cfg(test)]
mod tests {
    use super::super::config::parse_config;

    #[test]
    fn what_cannot_be_honoured_is_located() {
        let text = "MULTI_RATE 1\nLINK_DOWN 5 320 340\nERROR_RATE_PER_LINK 0.001\nENABLE_TRACE 1\nHAS_WIN 1\n";
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
    fn the_defaults_of_the_authors_script_are_honoured() {
        let text = "CC_MODE 3\nLINK_DOWN 0 0 0\nERROR_RATE_PER_LINK 0.0000\nL2_ACK_INTERVAL 1\n\
                    L2_BACK_TO_ZERO 0\nMULTI_RATE 0\nSAMPLE_FEEDBACK 0\nUSE_DYNAMIC_PFC_THRESHOLD 1\nENABLE_TRACE 0\n";
        assert_eq!(parse_config(text, "c.txt").unwrap().not_honoured(), []);
    }
}
