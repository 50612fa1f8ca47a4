//! Configuration files of `KEY value…` in any order, as `third.cc` reads them (commit 9f4be2a).

use std::path::{Path, PathBuf};

use super::values::{self, CcMode, LinkDown};
use crate::foreign::{Ns3Error, Token, Tokens, read_text};
use crate::nearest::nearest;
use crate::units::{Bytes, Rate, Time};

macro_rules! config {
    ($($(#[$doc:meta])* $key:literal $field:ident: $type:ty = $read:ident;)*) => {
        /// Settings; absent keys are `None`, ns-3's default.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Ns3Config {
            /// Name of the file.
            pub file: String,
            /// Keys set and their lines, in file order.
            pub set: Vec<(&'static str, usize)>,
            $($(#[$doc])* pub $field: Option<$type>,)*
        }

        /// Valid keys.
        pub const CONFIG_KEYS: &[&str] = &[$($key),*];

        impl Ns3Config {
            fn read(&mut self, key: &str, tokens: &mut Tokens<'_>) -> Result<bool, Ns3Error> {
                match key {
                    $($key => self.$field = Some(values::$read(tokens, key)?),)*
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }
    };
}

config! {
    /// Congestion control; default DCQCN.
    "CC_MODE" cc_mode: CcMode = cc_mode;
    /// If true, queues mark ECN; default yes.
    "ENABLE_QCN" enable_qcn: bool = flag;
    /// Queue below which no packet is marked, by link rate.
    "KMIN_MAP" kmin: Vec<(Rate, Bytes)> = kilobytes_by_rate;
    /// Queue above which every packet is marked, by link rate.
    "KMAX_MAP" kmax: Vec<(Rate, Bytes)> = kilobytes_by_rate;
    /// Marking probability just below KMAX, by link rate.
    "PMAX_MAP" pmax: Vec<(Rate, f64)> = fraction_by_rate;
    /// Buffer of each switch; default 16 MiB.
    "BUFFER_SIZE" buffer_size: Bytes = mebibytes;
    /// If true, the PFC threshold follows the free buffer; default yes.
    "USE_DYNAMIC_PFC_THRESHOLD" dynamic_pfc_threshold: bool = flag;
    /// Pause time in PFC frames; default 5 us. Without effect: a pause lasts until the resume.
    "PAUSE_TIME" pause_time: Time = microseconds;
    /// If true, a host's ACKs ignore pauses of their data's priority; default no.
    "ACK_HIGH_PRIO" ack_high_prio: bool = flag;

    /// Payload of a full packet; default 1000.
    "PACKET_PAYLOAD_SIZE" payload: Bytes = bytes;
    /// Chunk to whose start a flow falls back (only with L2_BACK_TO_ZERO 1).
    "L2_CHUNK_SIZE" chunk_size: Bytes = bytes;
    /// Bytes per ACK; default 0 (none).
    "L2_ACK_INTERVAL" ack_interval: u32 = count;
    /// If true, back to the start of the chunk; if false, go-back-N (swapped in the authors' config_doc.txt).
    "L2_BACK_TO_ZERO" back_to_zero: bool = flag;

    /// If true, flows have a window; default yes.
    "HAS_WIN" has_window: bool = flag;
    /// If true, all pairs use the largest base RTT and BDP; default yes.
    "GLOBAL_T" global_t: bool = flag;
    /// If true, the window shrinks with the rate; default no.
    "VAR_WIN" variable_window: bool = flag;
    /// If true, packets are paced at the flow's rate; default yes.
    "RATE_BOUND" rate_bound: bool = flag;
    /// Lowest rate of a flow; default 100Mb/s.
    "MIN_RATE" min_rate: Rate = rate;
    /// Additive increase (not for DCTCP).
    "RATE_AI" rate_ai: Rate = rate;
    /// Hyper increase of DCQCN and TIMELY.
    "RATE_HAI" rate_hai: Rate = rate;

    /// DCQCN: interval of alpha updates; default 55 us.
    "ALPHA_RESUME_INTERVAL" alpha_interval: Time = microseconds;
    /// DCQCN: interval of rate cuts; default 4 us.
    "RATE_DECREASE_INTERVAL" decrease_interval: Time = microseconds;
    /// DCQCN: interval of rate increases.
    "RP_TIMER" increase_interval: Time = microseconds;
    /// DCQCN and DCTCP: weight g of a new observation; default 0 (1/16 in integers).
    "EWMA_GAIN" ewma_gain: f64 = fraction;
    /// DCQCN: increases in fast recovery; default 5.
    "FAST_RECOVERY_TIMES" fast_recovery_times: u32 = count;
    /// DCQCN: if true, every cut lowers the target rate; default no.
    "CLAMP_TARGET_RATE" clamp_target_rate: bool = flag;
    /// DCTCP: additive increase; default 1000Mb/s.
    "DCTCP_RATE_AI" dctcp_rate_ai: Rate = rate;

    /// HPCC: target utilisation eta; default 0.95.
    "U_TARGET" target_utilisation: f64 = real;
    /// HPCC: increases before a multiplicative one; default 5.
    "MI_THRESH" max_stage: u32 = count;
    /// HPCC: unit of INT counters, 1 for 25 Gb/s NICs, rate/25 above; default 1.
    "INT_MULTI" int_multiplier: u32 = count;
    /// HPCC: if true, reacts to every ACK; default yes.
    "FAST_REACT" fast_react: bool = flag;
    /// HPCC: if true, every hop has its own rate; default yes.
    "MULTI_RATE" multi_rate: bool = flag;
    /// HPCC: if true, takes INT once per RTT or at a queue; default no.
    "SAMPLE_FEEDBACK" sample_feedback: bool = flag;
    /// HPCC-PINT: base of the logarithmic encoding; default 1.05.
    "PINT_LOG_BASE" pint_log_base: f64 = real;
    /// HPCC-PINT: fraction of packets with feedback; default 1.
    "PINT_PROB" pint_probability: f64 = fraction;

    /// Topology file.
    "TOPOLOGY_FILE" topology_file: PathBuf = path;
    /// Flow file.
    "FLOW_FILE" flow_file: PathBuf = path;
    /// File of the nodes to trace.
    "TRACE_FILE" trace_file: PathBuf = path;
    /// Packet trace file.
    "TRACE_OUTPUT_FILE" trace_output_file: PathBuf = path;
    /// If true, packets are traced; default yes.
    "ENABLE_TRACE" enable_trace: bool = flag;
    /// Flow completion times file.
    "FCT_OUTPUT_FILE" fct_output_file: PathBuf = path;
    /// Pauses file.
    "PFC_OUTPUT_FILE" pfc_output_file: PathBuf = path;
    /// Queue lengths file.
    "QLEN_MON_FILE" qlen_file: PathBuf = path;
    /// Start of queue sampling; default 2 s.
    "QLEN_MON_START" qlen_start: Time = nanoseconds;
    /// End of queue sampling; default 2.1 s.
    "QLEN_MON_END" qlen_end: Time = nanoseconds;
    /// End of the run; default 3.01 s.
    "SIMULATOR_STOP_TIME" stop_time: Time = seconds;

    /// Random loss on every link; default 0.
    "ERROR_RATE_PER_LINK" error_rate: f64 = fraction;
    /// Failure of a link.
    "LINK_DOWN" link_down: LinkDown = link_down;
    /// Without effect: the topology file has rates.
    "DATA_RATE" data_rate: Rate = rate;
    /// Without effect: the topology file has delays.
    "LINK_DELAY" link_delay: Time = time;
}

impl Ns3Config {
    /// Line that sets a key.
    pub fn line(&self, key: &str) -> Option<usize> {
        self.set.iter().find(|(set, _)| *set == key).map(|&(_, line)| line)
    }

    /// Failure of a link; `None` if LINK_DOWN is absent or its time is 0.
    pub fn failure(&self) -> Option<LinkDown> {
        self.link_down.filter(|down| down.after > Time::ZERO)
    }
}

/// Errors of a file, and its other settings.
#[derive(Debug, Clone, PartialEq)]
pub struct InvalidConfig {
    /// Settings without errors.
    pub config: Ns3Config,
    /// At least one.
    pub errors: Vec<Ns3Error>,
}

/// Reads a file; see [`parse_config`].
pub fn read_config(path: &Path) -> Result<Ns3Config, Box<InvalidConfig>> {
    match read_text(path) {
        Ok(text) => parse_config(&text, &path.display().to_string()),
        Err(error) => Err(Box::new(InvalidConfig { config: Ns3Config::default(), errors: vec![error] })),
    }
}

/// Parses a configuration file, with all its errors; `file` is for messages. After an error, parsing resumes at the next line
/// that begins like a key.
pub fn parse_config(text: &str, file: &str) -> Result<Ns3Config, Box<InvalidConfig>> {
    let mut tokens = Tokens::new(text, file);
    let mut config = Ns3Config { file: file.into(), ..Ns3Config::default() };
    let mut errors = Vec::new();
    while let Some(token) = tokens.next() {
        if let Err(error) = config.read_key(token, &mut tokens) {
            errors.push(error);
            tokens.skip_to(|next| next.line > token.line && looks_like_a_key(next.text));
        }
    }
    if errors.is_empty() { Ok(config) } else { Err(Box::new(InvalidConfig { config, errors })) }
}

/// No value has only capital letters, digits and underscores.
fn looks_like_a_key(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

impl Ns3Config {
    fn read_key(&mut self, token: Token<'_>, tokens: &mut Tokens<'_>) -> Result<(), Ns3Error> {
        if let Some(line) = self.line(token.text) {
            return Err(tokens.wrong(
                token,
                "a key",
                format_args!("every key once; line {line} sets this one already"),
            ));
        }
        if !self.read(token.text, tokens)? {
            return Err(Ns3Error::Value {
                file: self.file.as_str().into(),
                line: token.line,
                at: Some(token.at),
                field: "a key".into(),
                value: token.text.into(),
                allowed: format!("one of {}", CONFIG_KEYS.join(", ")).into(),
                nearest: nearest(token.text, CONFIG_KEYS.iter().copied()).map(Box::from),
            });
        }
        self.set.extend(CONFIG_KEYS.iter().find(|&&key| key == token.text).map(|&key| (key, token.line)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(text: &str) -> String {
        parse_config(text, "c.txt").unwrap_err().errors[0].to_string()
    }

    #[test]
    fn values_have_units() {
        let text = "CC_MODE 3\nKMIN_MAP 2 100000000000 400\n 400000000000 1600\nPMAX_MAP 1 25000000000 0.20\n\
                    BUFFER_SIZE 32\nRP_TIMER 300\nRATE_AI 50Mb/s\nLINK_DOWN 0 0 0\nQLEN_MON_START 2000000000\n\
                    SIMULATOR_STOP_TIME 4.00\nU_TARGET 0.95\nHAS_WIN 1\nFLOW_FILE mix/flow.txt\nEWMA_GAIN 0.00390625\n";
        let config = parse_config(text, "c.txt").unwrap();
        assert_eq!(config.cc_mode, Some(CcMode::Hpcc));
        assert_eq!(config.kmin, Some(vec![(Rate::gbps(100), Bytes(400_000)), (Rate::gbps(400), Bytes(1_600_000))]));
        assert_eq!(config.pmax, Some(vec![(Rate::gbps(25), 0.2)]));
        assert_eq!(config.buffer_size, Some(Bytes(33_554_432)));
        assert_eq!(config.increase_interval, Some(Time::us(300)));
        assert_eq!(config.rate_ai, Some(Rate::mbps(50)));
        assert_eq!(config.qlen_start, Some(Time::ms(2000)));
        assert_eq!(config.stop_time, Some(Time::ms(4000)));
        assert_eq!(config.flow_file.as_deref(), Some(Path::new("mix/flow.txt")));
        assert_eq!((config.kmax, config.variable_window), (None, None));
    }

    #[test]
    fn keys_are_checked() {
        let text = message("HAS_WIN 1\nCC_MOED 3\n");
        assert!(text.starts_with("c.txt:2: a key is `CC_MOED`; allowed: one of CC_MODE, ENABLE_QCN"), "{text}");
        assert!(text.ends_with("; did you mean `CC_MODE`?"), "{text}");
        assert_eq!(
            message("HAS_WIN 1\nHAS_WIN 0\n"),
            "c.txt:2: a key is `HAS_WIN`; allowed: every key once; line 1 sets this one already"
        );
        assert_eq!(CONFIG_KEYS.len(), 50);
    }

    #[test]
    fn every_error_is_found() {
        let text = "HAS_WNI 1\nCC_MODE 3\nRP_TIMER 300us\nKMIN_MAP 2 100000000000\n 400\nHAS_WIN 1\nBUFFER_SIZE\n";
        let errors = parse_config(text, "c.txt").unwrap_err().errors;
        let lines: Vec<String> =
            errors.iter().map(|error| error.to_string().split(" is ").next().unwrap_or_default().to_owned()).collect();
        assert_eq!(lines[..3], ["c.txt:1: a key", "c.txt:3: RP_TIMER", "c.txt:6: KMIN_MAP"]);
        assert_eq!(errors.len(), 4);
    }

    #[test]
    fn values_are_checked() {
        assert_eq!(message("HAS_WIN yes"), "c.txt:1: HAS_WIN is `yes`; allowed: 0 (no) or 1 (yes)");
        assert_eq!(
            message("HAS_WIN\n"),
            "c.txt:1: the file ends before a value of HAS_WIN; allowed: 0 (no) or 1 (yes)"
        );
        assert!(message("CC_MODE 2").contains("3 (HPCC)"));
        assert!(message("RP_TIMER 300us").contains("a number of microseconds (without unit) (`us` after the number)"));
        assert!(message("RATE_AI 50MB").contains("unknown unit `MB`"));
        assert!(message("EWMA_GAIN nan").contains("a number from 0 to 1"));
        assert!(message("KMIN_MAP 2 100000000000 400").contains("2 rates with a value each"));
        assert!(message("KMIN_MAP 2 1 400 1 400").contains("every rate once"));
        assert!(message("KMIN_MAP 1 100000000000 400 25000000000 100").contains("c.txt:1: a key is `25000000000`"));
        assert!(message("BUFFER_SIZE 32MB").contains("an integer from 0"));
    }

    proptest! {
        #[test]
        fn no_text_panics(key in proptest::sample::select(CONFIG_KEYS), text in "[0-9 .\n]{0,60}|(?s).{0,40}") {
            let _ = parse_config(&format!("{key} {text}"), "c.txt");
        }
    }
}
