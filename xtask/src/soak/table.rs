//! A project with one to three sessions in it that take turns. A table is dealt from the seed and its number alone,
//! so that each can be played again without the others.

use overtone_core::registry::Workflow;
use serde_json::json;

use super::dice::Dice;
use super::disk::Disk;
use super::event::Client;
use super::figures::Figures;
use super::player::{Player, Temper};
use super::rules::Limits;
use super::seat::Seat;
use crate::error::{Error, Result};
use crate::sandbox::Sandbox;
use crate::shell;

/// The workflows of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Deal {
    pub(crate) number: usize,
    pub(crate) first: usize,
    pub(crate) count: usize,
    /// How many workflows the run has: its last table is cut by that.
    of: usize,
}

/// Deals so many workflows to tables of one to four.
pub(crate) fn deal(seed: u64, workflows: usize) -> Vec<Deal> {
    let mut dice = Dice::new(seed, 0);
    let (mut deals, mut first) = (Vec::new(), 0);
    while first < workflows {
        // Thrown before it is cut, so that a longer run begins like a shorter one.
        let count = dice.between(1, 4).min(workflows - first);
        deals.push(Deal { number: deals.len() + 1, first, count, of: workflows });
        first += count;
    }
    deals
}

/// All types in turn.
fn workflow(number: usize) -> Workflow {
    Workflow::ALL[number % Workflow::ALL.len()]
}

/// Plays a table to its end.
pub(crate) fn play(sandbox: &Sandbox, deal: &Deal, seed: u64) -> Result<Figures> {
    let mut dice = Dice::new(seed, deal.number as u64);
    let limits = configure(sandbox, &mut dice)?;
    let mut players = seat_players(sandbox, deal, limits, &mut dice);
    while players.iter().any(|player| !player.is_over()) {
        let waiting: Vec<_> = (0..players.len()).filter(|at| !players[*at].is_over()).collect();
        let turn = dice.pick(&waiting);
        if let Err(error) = players[turn].take_turn().and_then(|()| others_are_untouched(&players, turn)) {
            let again = format!("--seed {seed} --workflows {}", deal.of);
            return Err(kept(sandbox, &players, turn, &again, &error));
        }
    }
    let mut figures = Figures::default();
    for player in players {
        figures.add(player.seat.figures);
    }
    Ok(figures)
}

/// Some projects let agents run in the background, some are short of rounds.
fn configure(sandbox: &Sandbox, dice: &mut Dice) -> Result<Limits> {
    let mut limits = Limits::default();
    let mut config = json!({});
    if dice.percent(40) {
        config["agents"] = json!({"foreground": false});
    }
    if dice.percent(15) {
        limits.iterations = 4;
        config["loop"] = json!({"maxIterations": limits.iterations});
    }
    shell::write_file(&sandbox.overtone_home().join("config.json"), config.to_string().as_bytes())?;
    Ok(limits)
}

fn seat_players<'a>(sandbox: &'a Sandbox, deal: &Deal, limits: Limits, dice: &mut Dice) -> Vec<Player<'a>> {
    let seats = dice.between(1, 3).min(deal.count);
    let numbers: Vec<_> = (deal.first..deal.first + deal.count).collect();
    let mut players = Vec::new();
    for at in 0..seats {
        let client = dice.pick(&[Client::Old, Client::New]);
        let session = format!("s{}-{}", deal.number, at + 1);
        let own = Dice::new(dice.below(usize::MAX) as u64, at as u64);
        let queue = numbers.iter().skip(at).step_by(seats).map(|number| (*number, workflow(*number)));
        let seat = Seat::new(sandbox, session, client, limits, own);
        players.push(Player::new(seat, Temper::of(dice), queue.collect()));
    }
    players
}

/// Sessions in one project do not touch each other's state.
fn others_are_untouched(players: &[Player], turn: usize) -> Result<()> {
    let others = players.iter().enumerate().filter(|(at, _)| *at != turn);
    for (_, player) in others {
        let seat = &player.seat;
        let mut now = Disk::read(seat.sandbox, &seat.session).map_err(Error::new)?;
        // A session that has ended leaves its feature to the next one.
        if player.is_over() {
            now.tasks.clone_from(&seat.disk.tasks);
        }
        if now != seat.disk {
            let what = format!("session {} is another now: {}", seat.session, difference(&seat.disk, &now));
            return Err(players[turn].seat.broken("sessions do not touch each other", &what, &[]));
        }
    }
    Ok(())
}

/// The part that differs, as it was and as it is.
fn difference(was: &Disk, is: &Disk) -> String {
    if was.flow != is.flow {
        format!("{:?}\n  then {:?}", was.flow, is.flow)
    } else if was.tasks != is.tasks {
        format!("{:?}\n  then {:?}", was.tasks, is.tasks)
    } else {
        format!("{:?}\n  then {:?}, or its timeline", was.looping, is.looping)
    }
}

/// The error with all that is needed to see it again.
fn kept(sandbox: &Sandbox, players: &[Player], turn: usize, again: &str, error: &Error) -> Error {
    for player in players {
        let path = sandbox.home().join(format!("story-{}.jsonl", player.seat.session));
        // The folder is kept for its state; a story that cannot be written must not hide the error.
        let _ = shell::write_file(&path, player.seat.story().as_bytes());
    }
    let number = players[turn].number().unwrap_or_default();
    Error::new(format!("workflow {number}: {error}\n  kept: {}", sandbox.home().display()))
        .hint(format!("cargo xtask soak {again} --only {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workflow_is_dealt_once_and_a_longer_run_begins_alike() {
        let (short, long) = (deal(5, 40), deal(5, 500));
        let starts = |deals: &[Deal]| deals.iter().map(|deal| (deal.first, deal.count)).collect::<Vec<_>>();
        assert_eq!(starts(&short[..short.len() - 1]), starts(&long[..short.len() - 1]));
        let numbers: Vec<_> = long.iter().flat_map(|deal| deal.first..deal.first + deal.count).collect();
        assert_eq!(numbers, (0..500).collect::<Vec<_>>());
    }
}
