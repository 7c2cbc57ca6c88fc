//! What else happens in a session: compactions, interruptions, people, other agents, orders not followed.

use overtone_registry::Agent;

use super::Player;
use crate::error::Result;
use crate::soak::event::{Event, Meaning, wire};
use crate::soak::rules::{self, Ruling};

impl Player<'_> {
    pub(super) fn mishap(&mut self) -> Result<()> {
        match self.seat.dice.below(12) {
            0 | 1 => self.compaction(),
            2 => self.hear(Event::prompt("how far are we?")),
            3 => self.end_and_resume(),
            4 => self.crash_and_resume(),
            5 => self.tool_fails(),
            6 => self.foreign_agent(),
            7 | 8 => self.skip_ahead(),
            9 => self.person_stops(),
            10 => self.init_again(),
            _ => self.late_report(),
        }
    }

    /// In the order of the client; the agent that writes the summary has no type.
    fn compaction(&mut self) -> Result<()> {
        let trigger = self.seat.dice.pick(&["auto", "manual"]);
        self.seat.play(Event::compacting(trigger))?;
        self.seat.play(Event::agent_stop("", "summary", "a summary", Meaning::Beside))?;
        self.hear(Event::session_start("compact"))
    }

    fn end_and_resume(&mut self) -> Result<()> {
        self.seat.play(Event::session_end("other"))?;
        self.crash_and_resume()
    }

    /// Agents do not outlive their client.
    fn crash_and_resume(&mut self) -> Result<()> {
        self.orders = None;
        self.hear(Event::session_start("resume"))?;
        self.seat.running.retain(|agent| agent.recorded);
        self.seat.running.iter_mut().for_each(|agent| agent.dead = true);
        Ok(())
    }

    fn tool_fails(&mut self) -> Result<()> {
        let tool = self.seat.dice.pick(&["Bash", "Edit", "WebFetch"]);
        self.seat.play(Event::tool_failed(tool))?;
        self.seat.play(Event::bash_used("ls"))?;
        Ok(())
    }

    fn foreign_agent(&mut self) -> Result<()> {
        self.calls += 1;
        let (call, id) = (format!("foreign-{}", self.calls), format!("x{}", self.calls));
        self.seat.play(Event::foreign_delegate(&call))?;
        let mut start = Event::agent_start("Explore", &id);
        start.meaning = Meaning::Beside;
        self.seat.play(start)?;
        self.seat.play(Event::agent_stop("Explore", &id, "10 failed, rejected", Meaning::Beside))?;
        self.hear(Event::returned("Explore", &call, &id, "10 failed", Meaning::Delivery))
    }

    /// Sends somebody whose turn it is not; or the grader, who may come at any time.
    fn skip_ahead(&mut self) -> Result<()> {
        let Some(flow) = self.seat.flow() else { return Ok(()) };
        let early = |agent: &Agent| rules::gate(flow, *agent) == Ruling::Deny;
        let too_early: Vec<_> = Agent::ALL.into_iter().filter(early).collect();
        let agent = match too_early.as_slice() {
            [] => Agent::Grader,
            agents => self.seat.dice.pick(agents),
        };
        let orders = self.orders.take();
        self.send(&[agent])?;
        self.orders = self.orders.take().or(orders);
        Ok(())
    }

    fn person_stops(&mut self) -> Result<()> {
        self.hear(Event::prompt("/ot:stop"))?;
        self.seat.command_line(&["stop"])?;
        if !self.seat.disk.looping.stopped {
            return Err(self.seat.broken("a person can stop the loop", "it is not stopped", &[]));
        }
        self.orders = None;
        self.stop()
    }

    /// A running workflow is not replaced by accident.
    fn init_again(&mut self) -> Result<()> {
        let before = self.seat.disk.clone();
        if self.seat.command_line(&["init", "quick"])? || before != self.seat.disk {
            return Err(self.seat.broken("a running workflow is not replaced", "init was not refused", &[]));
        }
        Ok(())
    }

    /// An end that was told before is told again.
    fn late_report(&mut self) -> Result<()> {
        let Some(agent) = self.ended.last().cloned() else { return Ok(()) };
        self.seat.play(Event::agent_stop(
            &wire(agent.agent),
            &agent.id,
            "10 failed, rejected",
            Meaning::Beside,
        ))?;
        Ok(())
    }
}
