//! Two machines that want the same thing at the same moment: one gets it, a thousand times.

use crate::support::{Servers, block_on, open};
use overtone_fleet::{Claim, Insist, Machine, Outcome, claim, feature_claim, release, session_claim};

const ROUNDS: usize = 1_000;

fn machine(name: &str) -> Machine {
    Machine { id: format!("{name:0>16}"), name: name.to_owned() }
}

fn is_won(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Ours { .. })
}

#[test]
fn of_two_machines_exactly_one_wins() {
    let servers = Servers::one();
    let settings = servers.settings("race");
    block_on(async {
        let (a, b) = (open(&settings).await, open(&settings).await);
        let (one, two) = (machine("one"), machine("two"));
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
                tokio::join!(claim(&a, &key, first, Insist::No), claim(&b, &key, second, Insist::No));
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
    block_on(async {
        let (a, b) = (open(&settings).await, open(&settings).await);
        let (dead, one, two) = (machine("dead"), machine("one"), machine("two"));
        for round in 0..ROUNDS / 10 {
            // Both are there, so neither takes from the other what it has won. The server forgets them after a while.
            for machine in [&one, &two] {
                a.pulse.put(&machine.id, r#"{"v":1}"#.into()).await.unwrap();
            }
            let key = session_claim(&format!("s{round}"));
            assert!(is_won(&claim(&a, &key, Claim::by(&dead, None), Insist::No).await.unwrap()));
            let refused = claim(&a, &key, Claim::by(&one, None), Insist::No).await.unwrap();
            assert!(matches!(refused, Outcome::Orphaned(owner) if owner.name == "dead"));
            let (first, second) = tokio::join!(
                claim(&a, &key, Claim::by(&one, None), Insist::IfGone),
                claim(&b, &key, Claim::by(&two, None), Insist::IfGone)
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
    block_on(async {
        let link = open(&settings).await;
        let (one, two) = (machine("one"), machine("two"));
        let key = feature_claim("example.org/shop", "login");
        let (first, second) = (Claim::by(&one, Some("s1")), Claim::by(&two, Some("s2")));
        assert!(is_won(&claim(&link, &key, first.clone(), Insist::No).await.unwrap()));
        release(&link, &key, &second).await.unwrap();
        assert!(!is_won(&claim(&link, &key, second.clone(), Insist::No).await.unwrap()));
        release(&link, &key, &first).await.unwrap();
        assert!(is_won(&claim(&link, &key, second, Insist::No).await.unwrap()));
    });
}
