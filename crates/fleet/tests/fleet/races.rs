//! Two machines that claim the same thing at the same time: exactly one wins.

use crate::support::{Servers, TestMachine, block_on};
use overtone_fleet::{
    Claim, ClaimOutcome, TakeOver, claim, feature_claim_key, is_present, release, session_claim_key,
};
use overtone_testkit::wait_until;

const ROUNDS: usize = 1_000;

fn is_won(outcome: &ClaimOutcome) -> bool {
    matches!(outcome, ClaimOutcome::Ours { .. })
}

#[test]
fn of_two_machines_exactly_one_wins() {
    let servers = Servers::one();
    let settings = servers.settings("race");
    let stations = [TestMachine::new(&settings, "one"), TestMachine::new(&settings, "two")];
    let (one, two) = (stations[0].machine(), stations[1].machine());
    block_on(async {
        let (a, b) = (stations[0].link().await, stations[1].link().await);
        let mut wins = [0, 0];
        for round in 0..ROUNDS {
            // A session in even rounds and a feature in odd ones. Both machines are offline, so claims could be taken
            // over.
            let (key, session) = if round % 2 == 0 {
                (session_claim_key(&format!("s{round}")), None)
            } else {
                (feature_claim_key("example.org/shop", &format!("f{round}")), Some("s"))
            };
            let (first, second) = (Claim::new(&one, session), Claim::new(&two, session));
            let (first, second) = tokio::join!(
                claim(&a, &key, first, TakeOver::Never, 0),
                claim(&b, &key, second, TakeOver::Never, 0)
            );
            let won = [is_won(&first.unwrap()), is_won(&second.unwrap())];
            assert_eq!(won.iter().filter(|won| **won).count(), 1, "round {round}: {won:?}");
            wins[usize::from(won[1])] += 1;
        }
        assert_eq!(wins.iter().sum::<usize>(), ROUNDS);
    });
}

#[test]
fn of_two_machines_that_take_over_exactly_one_wins() {
    let servers = Servers::one();
    let settings = servers.settings("race");
    let stations = ["one", "two", "dead"].map(|name| TestMachine::new(&settings, name));
    let [one, two, dead] = [0, 1, 2].map(|at| stations[at].machine());
    // Both are online, so neither takes the claim of the other over.
    let _relays = [stations[0].relay(), stations[1].relay()];
    wait_until("both are there", || {
        block_on(async {
            let link = stations[2].link().await;
            is_present(&link, &one.id).await.unwrap() && is_present(&link, &two.id).await.unwrap()
        })
    });
    block_on(async {
        let (a, b, c) = (stations[0].link().await, stations[1].link().await, stations[2].link().await);
        for round in 0..ROUNDS / 10 {
            let key = session_claim_key(&format!("s{round}"));
            assert!(is_won(&claim(&c, &key, Claim::new(&dead, None), TakeOver::Never, 0).await.unwrap()));
            let refused = claim(&a, &key, Claim::new(&one, None), TakeOver::Never, 0).await.unwrap();
            assert!(matches!(refused, ClaimOutcome::Orphaned(owner) if owner.name == "dead"));
            let (first, second) = tokio::join!(
                claim(&a, &key, Claim::new(&one, None), TakeOver::IfOwnerGone, 0),
                claim(&b, &key, Claim::new(&two, None), TakeOver::IfOwnerGone, 0)
            );
            let won = [is_won(&first.unwrap()), is_won(&second.unwrap())];
            assert_eq!(won.iter().filter(|won| **won).count(), 1, "round {round}: {won:?}");
        }
    });
}

#[test]
fn only_the_owner_releases_a_claim_and_then_it_is_free() {
    let servers = Servers::one();
    let settings = servers.settings("race");
    let stations = [TestMachine::new(&settings, "one"), TestMachine::new(&settings, "two")];
    let (one, two) = (stations[0].machine(), stations[1].machine());
    block_on(async {
        let (link, other) = (stations[0].link().await, stations[1].link().await);
        let key = feature_claim_key("example.org/shop", "login");
        let (first, second) = (Claim::new(&one, Some("s1")), Claim::new(&two, Some("s2")));
        assert!(is_won(&claim(&link, &key, first.clone(), TakeOver::Never, 0).await.unwrap()));
        release(&other, &key, &second).await.unwrap();
        assert!(!is_won(&claim(&other, &key, second.clone(), TakeOver::Never, 0).await.unwrap()));
        release(&link, &key, &first).await.unwrap();
        assert!(is_won(&claim(&other, &key, second, TakeOver::Never, 0).await.unwrap()));
    });
}
