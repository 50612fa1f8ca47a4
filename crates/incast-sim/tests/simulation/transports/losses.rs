use incast_model::rng::{stream, unit};
use incast_model::units::Time;
use incast_sim::network::{FailureParams, RandomLinks};
use incast_sim::outcome::Stop;

use super::{all, named, racks, sprayed};
use crate::common::{Bench, check};

fn lossy(transport: &incast_sim::transport::Transport, lost: f64, seed: u64) -> Bench {
    let fabric = racks(3);
    let links = fabric.links().len() as u32;
    let mut rng = stream(seed, "losses", 0);
    let mut draw = |below: u32| (unit(&mut rng) * f64::from(below)) as u32;
    let flows: Vec<(u32, u32, u64, Time)> = (0..100)
        .map(|_| {
            let (src, hop, size, start) = (draw(12), 1 + draw(11), draw(19), draw(100_000));
            // 1 B to 197 kB, more small than large.
            (src, (src + hop) % 12, 1 + (1u64 << size) * 3 / 4, Time::ns(start.into()))
        })
        .collect();
    let random = Some(RandomLinks { links, tiers: None });
    sprayed(Bench::new(fabric).transport(transport.clone()).flows(flows)).with(|params| {
        params.seed = seed;
        let all = RandomLinks { links: 6, tiers: Some([1, 2]) };
        let edge = RandomLinks { links: 13, tiers: Some([0, 1]) };
        assert_eq!(random.map(|one| one.links), Some(all.links + edge.links));
        let failure = |random| FailureParams { random: Some(random), silent: Some(lost), ..FailureParams::default() };
        params.network.failure = if lost > 0.0 { vec![failure(all), failure(edge)] } else { Vec::new() };
    })
}

#[test]
fn l1_every_flow_completes_whatever_is_lost() {
    let more = [("tcp", "newreno"), ("tcp", "dctcp"), ("tcp", "linux"), ("tcp", "disaggregation"), ("tcp", "yaps")];
    let more = more.into_iter().chain([
        ("pfabric", "disaggregation"),
        ("phost", "paper"),
        ("phost", "yaps"),
        ("fastpass", "yaps"),
        ("fastpass", "limited"),
    ]);
    let transports = all().into_iter().chain(more.map(|(name, profile)| named(name, profile)));
    for transport in transports {
        for (lost, seeds) in [(0.0, 1), (0.001, 2), (0.01, 4), (0.05, 6)] {
            for seed in 0..seeds {
                let outcome = lossy(&transport, lost, seed).run();
                let done = outcome.flows.iter().filter(|flow| flow.finish.is_some()).count();
                let what = format!("{} with {} % lost, seed {seed}: flows done", transport.name(), 100.0 * lost);
                check("L1", &what, 100, done as f64, done == 100 && outcome.stop == Stop::Finished);
                assert_eq!(outcome.ledger.unbalanced().count(), 0);
                assert!(outcome.flows.iter().all(|flow| flow.delivered <= flow.finish));
                // A short last packet can overtake its predecessor by 0.3 us.
                assert!(outcome.flows.iter().all(|flow| flow.fct() >= Some(flow.ideal_exact - Time::ns(300))));
                if lost > 0.009 {
                    assert!(outcome.counts.silent_drops > 0);
                }
            }
        }
    }
}

#[test]
fn l2_without_losses_nothing_is_sent_again() {
    for transport in all() {
        let outcome = lossy(&transport, 0.0, 3).run();
        let (again, drops) = (outcome.flows.iter().map(|flow| flow.retransmitted).sum::<u64>(), outcome.counts.drops);
        // pFabric flows can starve; Fastpass asks again before ACKs arrive.
        let timeouts: u64 = outcome.flows.iter().map(|flow| u64::from(flow.timeouts)).sum();
        // pHost receivers reissue tokens of late sources.
        let most = match transport.name() {
            "fastpass" | "pfabric" => drops + 8 * timeouts,
            "phost" => drops + 20,
            _ => drops,
        };
        let what = format!("{}: packets sent again, {drops} dropped, {timeouts} timeouts", transport.name());
        check("L2", &what, format!("at most {most}"), again as f64, again <= most);
    }
}
