//! Two machines that want the same thing at the same moment: one gets it, a thousand times.

use crate::support::{Servers, Station, block_on, until};
use overtone_fleet::{Claim, Insist, Outcome, claim, feature_claim, is_present, release, session_claim};

const ROUNDS: usize = 1_000;

fn is_won(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Ours { .. })
}

#[test]
fn of_two_machines_exactly_one_wins() {
    let servers = Servers::one();
    let settings = servers.settings("race");
    let stations = [Station::new(&settings, "one"), Station::new(&settings, "two")];
    let (one, two) = (stations[0].machine(), stations[1].machine());
    block_on(async {
        let (a, b) = (stations[0].link().await, stations[1].link().await);
        let mut wins = [0, 0];
        for round in 0..ROUNDS {
            // A session in even rounds and a feature in odd ones; nobody is there, so it could be taken over, too.
            let (key, session) = if round % 2 == 0 {
                (session_claim(&format!("s{round}")), None)
            } else {
                (feature_claim("example.org/shop", &format!("f{round}")), Some("s"))
            };
            let (first, second) = (Claim::by(&one, session), Claim::by(&two, session));
            let (first, second) =
                tokio::join!(claim(&a, &key, first, Insist::No, 0), claim(&b, &key, second, Insist::No, 0));
            let won = [is_won(&first.unwrap()), is_won(&second.unwrap())];
            assert_eq!(won.iter().filter(|won| **won).count(), 1, "round {round}: {won:?}");
            wins[usize::from(won[1])] += 1;
        }
        assert_eq!(wins.iter().sum::<usize>(), ROUNDS);
    });
}

#[test]
fn of_two_heirs_of_a_dead_machine_exactly_one_wins() {
    let servers = Servers::one();
    let settings = servers.settings("race");
    let stations = ["one", "two", "dead"].map(|name| Station::new(&settings, name));
    let [one, two, dead] = [0, 1, 2].map(|at| stations[at].machine());
    // Both are there, so neither takes from the other what it has won.
    let _relays = [stations[0].relay(), stations[1].relay()];
    until("both are there", || {
        block_on(async {
            let link = stations[2].link().await;
            is_present(&link, &one.id).await.unwrap() && is_present(&link, &two.id).await.unwrap()
        })
    });
    block_on(async {
        let (a, b, c) = (stations[0].link().await, stations[1].link().await, stations[2].link().await);
        for round in 0..ROUNDS / 10 {
            let key = session_claim(&format!("s{round}"));
            assert!(is_won(&claim(&c, &key, Claim::by(&dead, None), Insist::No, 0).await.unwrap()));
            let refused = claim(&a, &key, Claim::by(&one, None), Insist::No, 0).await.unwrap();
            assert!(matches!(refused, Outcome::Orphaned(owner) if owner.name == "dead"));
            let (first, second) = tokio::join!(
                claim(&a, &key, Claim::by(&one, None), Insist::IfGone, 0),
                claim(&b, &key, Claim::by(&two, None), Insist::IfGone, 0)
            );
            let won = [is_won(&first.unwrap()), is_won(&second.unwrap())];
            assert_eq!(won.iter().filter(|won| **won).count(), 1, "round {round}: {won:?}");
        }
    });
}

#[test]
fn what_is_given_up_can_be_had_and_only_by_its_owner_is_it_given_up() {
    let servers = Servers::one();
    let settings = servers.settings("race");
    let stations = [Station::new(&settings, "one"), Station::new(&settings, "two")];
    let (one, two) = (stations[0].machine(), stations[1].machine());
    block_on(async {
        let (link, other) = (stations[0].link().await, stations[1].link().await);
        let key = feature_claim("example.org/shop", "login");
        let (first, second) = (Claim::by(&one, Some("s1")), Claim::by(&two, Some("s2")));
        assert!(is_won(&claim(&link, &key, first.clone(), Insist::No, 0).await.unwrap()));
        release(&other, &key, &second).await.unwrap();
        assert!(!is_won(&claim(&other, &key, second.clone(), Insist::No, 0).await.unwrap()));
        release(&link, &key, &first).await.unwrap();
        assert!(is_won(&claim(&other, &key, second, Insist::No, 0).await.unwrap()));
    });
}
