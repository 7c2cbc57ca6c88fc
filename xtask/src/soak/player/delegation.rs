//! Sending agents, and how they end.

use overtone_registry::Agent;
use serde_json::Value;

use super::Player;
use crate::error::Result;
use crate::soak::disk::Flow;
use crate::soak::event::{Client, Event, Meaning, Running, wire};
use crate::soak::seat::is_allowed;
use crate::soak::words::{Said, say};

/// How an agent ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// As it should.
    Reports,
    /// Out of turns: no `SubagentStop`, only the tool's result.
    OutOfTurns,
    /// The API fails: the tool's result says so, or the tool fails.
    ApiError,
    /// It is never started.
    NotLaunched,
    /// The person interrupts it; nothing more is heard.
    Interrupted,
    /// Nothing is heard of it at all.
    Vanishes,
}

impl Player<'_> {
    /// The debugger is waited for before the developer is sent; others go together.
    pub(super) fn send_in_order(&mut self, agents: &[Agent]) -> Result<()> {
        match agents {
            [Agent::Debugger, rest @ ..] if !rest.is_empty() => {
                self.send(&[Agent::Debugger])?;
                if self.orders.is_none() && self.seat.running.is_empty() { self.send(rest) } else { Ok(()) }
            }
            // Now and then the main agent sends two of a kind.
            [agent] if self.seat.dice.percent(self.temper.bad_ends / 3) => self.send(&[*agent, *agent]),
            _ => self.send(agents),
        }
    }

    /// Delegates these agents in one message, and plays what becomes of them.
    pub(super) fn send(&mut self, agents: &[Agent]) -> Result<()> {
        self.sent_back = false;
        self.orders = None;
        let calls: Vec<_> = agents.iter().map(|agent| self.call(*agent)).collect();
        let events: Vec<_> = calls.iter().map(|call| Event::delegate(call.agent, &call.call)).collect();
        self.seat.running.extend(calls.iter().cloned());
        let answers = self.play_all(events)?;
        let mut sent = Vec::new();
        for (call, answer) in calls.into_iter().zip(&answers) {
            let refused = answer.as_ref().is_some_and(|answer| !is_allowed(answer));
            if refused {
                self.seat.running.retain(|agent| agent.call != call.call);
                self.listen(answer.as_ref());
            } else {
                sent.push((call, self.runs_in_background(answer.as_ref())));
            }
        }
        self.seat.excuses.unrecorded += self.seat.running.iter().filter(|agent| !agent.recorded).count();
        self.launch(sent)
    }

    fn call(&mut self, agent: Agent) -> Running {
        self.calls += 1;
        let call = format!("toolu_{}_{}", self.seat.session, self.calls);
        let id = format!("a{}_{}", self.seat.session, self.calls);
        Running { agent, call, id, background: false, recorded: false, dead: false }
    }

    /// One event alone may meet a killed hook; several run at the same time.
    fn play_all(&mut self, mut events: Vec<Event>) -> Result<Vec<Option<Value>>> {
        match events.len() {
            1 => Ok(vec![self.seat.play(events.remove(0))?]),
            _ => Ok(self.seat.play_together(events)?.into_iter().map(|played| played.answer).collect()),
        }
    }

    /// What a hook has not forbidden, the newer client puts into the background.
    fn runs_in_background(&self, answer: Option<&Value>) -> bool {
        let input = answer.map(|answer| &answer["hookSpecificOutput"]["updatedInput"]);
        let foreground = input.is_some_and(|input| input["run_in_background"] == false);
        self.seat.client == Client::New && !foreground
    }

    fn launch(&mut self, sent: Vec<(Running, bool)>) -> Result<()> {
        let mut working = Vec::new();
        for (agent, background) in sent {
            let end = self.choose_end();
            match end {
                End::NotLaunched => self.not_launched(&agent)?,
                _ => working.push((self.known(&agent), background, end)),
            }
        }
        let starts = working.iter().map(|(agent, ..)| Event::agent_start(&wire(agent.agent), &agent.id));
        self.play_all_of(starts.collect())?;
        let (behind, before): (Vec<_>, Vec<_>) =
            working.into_iter().partition(|(_, background, _)| *background);
        let launched = behind.iter().map(|(agent, ..)| Event::launched(agent)).collect();
        self.play_all_of(launched)?;
        for (agent, ..) in &behind {
            self.put_into_background(agent);
        }
        self.look_over_shoulder(&before.iter().map(|(agent, ..)| agent.clone()).collect::<Vec<_>>())?;
        self.end_all(&before.into_iter().map(|(agent, _, end)| (agent, end)).collect::<Vec<_>>())
    }

    /// Even an agent without a record is there for the client.
    fn put_into_background(&mut self, agent: &Running) {
        let here = self.seat.running.iter_mut().filter(|other| other.call == agent.call);
        here.for_each(|other| other.background = true);
    }

    fn play_all_of(&mut self, events: Vec<Event>) -> Result<Vec<Option<Value>>> {
        if events.is_empty() { Ok(Vec::new()) } else { self.play_all(events) }
    }

    fn choose_end(&mut self) -> End {
        if !self.seat.dice.percent(self.temper.bad_ends) {
            return End::Reports;
        }
        let ends = [End::OutOfTurns, End::ApiError, End::NotLaunched, End::Interrupted, End::Vanishes];
        self.seat.dice.pick(&ends)
    }

    /// The agent as the model has it now.
    fn known(&self, agent: &Running) -> Running {
        self.seat.running.iter().find(|other| other.call == agent.call).unwrap_or(agent).clone()
    }

    fn not_launched(&mut self, agent: &Running) -> Result<()> {
        let agent = self.known(agent);
        let error = format!("Agent type '{}' not found", wire(agent.agent));
        let meaning = end_of(&agent, Meaning::Gone { call: agent.call.clone() });
        self.hear(Event::agent_failed(&agent, &error, false, meaning))?;
        self.forget(&agent);
        Ok(())
    }

    /// A sub-agent works: it may write only if its kind may, and never delegates stages.
    fn look_over_shoulder(&mut self, agents: &[Running]) -> Result<()> {
        let Some(agent) = agents.first().filter(|_| self.seat.dice.percent(10)) else { return Ok(()) };
        let open = self.seat.flow().is_some_and(Flow::is_open);
        let answer = self.seat.play(Event::nested_delegate(agent, Agent::Tester))?;
        let denied = |answer: &Value| answer["hookSpecificOutput"]["permissionDecision"] == "deny";
        if open && answer.as_ref().is_some_and(|answer| !denied(answer)) {
            return Err(self.seat.broken("only the main agent delegates stages", "it was let through", &[]));
        }
        let answer = self.seat.play(Event::write_by(agent))?;
        let may = agent.agent.tools().permits("Write");
        if answer.as_ref().is_some_and(|answer| denied(answer) == may) {
            return Err(self.seat.broken("read-only agents do not write", agent.agent.name(), &[]));
        }
        Ok(())
    }

    /// Those that report do so at the same time; the tool's results come after.
    fn end_all(&mut self, agents: &[(Running, End)]) -> Result<()> {
        let said: Vec<_> = agents.iter().map(|(agent, _)| self.speak(agent.agent)).collect();
        let reporting = agents.iter().zip(&said).filter(|((_, end), _)| *end == End::Reports);
        let reports = reporting.map(|((agent, _), said)| report(agent, said)).collect();
        self.play_all_of(reports)?;
        let results: Vec<_> = agents
            .iter()
            .zip(&said)
            .filter_map(|((agent, end), said)| self.result(agent, *end, said))
            .collect();
        let heard = self.play_all_of(results)?;
        // Which of them carries the waiting texts depends on who got the lock; only one does.
        for answer in &heard {
            self.listen(answer.as_ref());
        }
        for (agent, end) in agents {
            self.after_end(agent, *end)?;
        }
        Ok(())
    }

    fn speak(&mut self, agent: Agent) -> Said {
        let bad = self.seat.dice.percent(self.temper.bad_news);
        say(&mut self.seat.dice, agent, bad)
    }

    /// What the Agent tool says in the end.
    fn result(&mut self, agent: &Running, end: End, said: &Said) -> Option<Event> {
        let waited_for = self.seat.running.iter().any(|other| other.call == agent.call && other.recorded);
        let made_up = |verdict| {
            if waited_for {
                Meaning::Ends { agent: agent.agent, call: agent.call.clone(), verdict }
            } else {
                Meaning::Delivery
            }
        };
        let returned =
            |text: &str, meaning| Event::returned(&wire(agent.agent), &agent.call, &agent.id, text, meaning);
        match end {
            End::Reports | End::OutOfTurns => Some(returned(&said.text, made_up(Some(said.verdict)))),
            End::ApiError if self.seat.client == Client::Old => {
                Some(returned("API Error: 529", made_up(None)))
            }
            End::ApiError => {
                Some(Event::agent_failed(agent, "API Error: 529 overloaded", false, made_up(None)))
            }
            End::NotLaunched | End::Interrupted | End::Vanishes => None,
        }
    }

    fn after_end(&mut self, agent: &Running, end: End) -> Result<()> {
        match end {
            End::Interrupted => {
                self.seat.play(Event::agent_failed(agent, "interrupted", true, Meaning::Beside))?;
                self.mark_dead(agent);
                self.hear(Event::prompt("wait, do it differently"))
            }
            End::Vanishes => {
                self.mark_dead(agent);
                Ok(())
            }
            _ => {
                self.forget(agent);
                self.ended.push(agent.clone());
                Ok(())
            }
        }
    }

    fn mark_dead(&mut self, agent: &Running) {
        self.seat.running.iter_mut().filter(|a| a.call == agent.call).for_each(|a| a.dead = true);
        // What was never recorded is missed by nobody.
        self.seat.running.retain(|a| a.recorded || !a.dead);
    }

    /// An agent without a record leaves nothing behind.
    fn forget(&mut self, agent: &Running) {
        self.seat.running.retain(|other| other.call != agent.call || other.recorded);
    }

    /// One of the agents in the background ends, and the client tells the main agent.
    pub(super) fn end_background_agent(&mut self) -> Result<()> {
        let background: Vec<_> =
            self.seat.running.iter().filter(|a| a.background && !a.dead).cloned().collect();
        if background.is_empty() {
            return self.stop();
        }
        let agent = background[self.seat.dice.below(background.len())].clone();
        let said = self.speak(agent.agent);
        let silent = self.seat.dice.percent(self.temper.bad_ends);
        if !silent {
            self.seat.play(report(&agent, &said))?;
        }
        let waited_for = self.seat.running.iter().any(|other| other.call == agent.call && other.recorded);
        let killed = silent && self.seat.dice.percent(50);
        let (status, meaning) = match (waited_for, killed) {
            (true, true) => ("killed", Meaning::Gone { call: agent.call.clone() }),
            (true, false) => (
                "completed",
                Meaning::Ends { agent: agent.agent, call: agent.call.clone(), verdict: Some(said.verdict) },
            ),
            (false, true) => ("killed", Meaning::Delivery),
            (false, false) => ("completed", Meaning::Delivery),
        };
        self.hear(Event::notification(&agent, status, &said.text, meaning))?;
        self.forget(&agent);
        Ok(())
    }
}

fn report(agent: &Running, said: &Said) -> Event {
    let meaning = if agent.recorded {
        Meaning::Ends { agent: agent.agent, call: agent.call.clone(), verdict: Some(said.verdict) }
    } else {
        Meaning::StrayEnds
    };
    Event::agent_stop(&wire(agent.agent), &agent.id, &said.text, meaning)
}

/// Nothing happens for an agent that nobody knows of.
fn end_of(agent: &Running, meaning: Meaning) -> Meaning {
    if agent.recorded { meaning } else { Meaning::Beside }
}
