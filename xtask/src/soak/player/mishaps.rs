//! What else happens in a session: compactions, interruptions, the user, other agents, orders not followed.

use overtone_core::registry::Agent;

use super::Player;
use crate::error::Result;
use crate::soak::event::{Event, Meaning, Running, wire};
use crate::soak::rules::{self, Ruling};

impl Player<'_> {
    pub(super) fn mishap(&mut self) -> Result<()> {
        match self.seat.dice.below(18) {
            0 | 1 => self.compaction(),
            2 | 3 => self.user_interrupts(),
            4 => self.end_and_resume(),
            5 => self.crash_and_resume(),
            6 => self.tool_fails(),
            7 => self.foreign_agent(),
            8 | 9 => self.skip_ahead(),
            10 => self.user_stops(),
            11 => self.init_again(),
            12 => self.user_looks(),
            13 | 14 => self.continue_agent(),
            15 => self.user_writes_to_agent(),
            16 => self.user_stops_agent(),
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

    /// A prompt while the main agent works, or between two turns. Then the work goes on, or it does not.
    pub(super) fn user_interrupts(&mut self) -> Result<()> {
        self.orders = None;
        if self.seat.dice.percent(50) {
            return self.hear_and_go_on("do it differently, and go on");
        }
        self.hear(Event::prompt("how far are we?"))?;
        if self.seat.dice.percent(50) { self.stop() } else { Ok(()) }
    }

    /// A command that only shows something starts nothing.
    fn user_looks(&mut self) -> Result<()> {
        self.orders = None;
        let command = self.seat.dice.pick(&["/ot:status", "/ot:dashboard", "/ot:specs list"]);
        self.hear(Event::prompt(command))?;
        self.stop()
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
        let agent = self.somebody_too_early().unwrap_or(Agent::Grader);
        let orders = self.orders.take();
        self.send(&[agent])?;
        self.orders = self.orders.take().or(orders);
        Ok(())
    }

    /// An agent that the gate has to refuse now.
    pub(super) fn somebody_too_early(&mut self) -> Option<Agent> {
        let is_early = |agent: &Agent| rules::gate(&self.seat.disk, *agent) == Ruling::Deny;
        let agents: Vec<_> = Agent::ALL.into_iter().filter(is_early).collect();
        if agents.is_empty() { None } else { Some(self.seat.dice.pick(&agents)) }
    }

    fn user_stops(&mut self) -> Result<()> {
        self.hear(Event::prompt("/ot:stop"))?;
        self.seat.command_line(&["stop"])?;
        if !self.seat.disk.looping.stopped {
            return Err(self.seat.broken("the user can stop the loop", "it is not stopped", &[]));
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

    /// An end that is known is reported again.
    fn late_report(&mut self) -> Result<()> {
        let Some(agent) = self.finished_agent() else { return Ok(()) };
        self.seat.play(Event::agent_stop(
            &wire(agent.agent),
            &agent.id,
            "10 failed, rejected",
            Meaning::Beside,
        ))?;
        Ok(())
    }

    /// One of the agents that have ended and are not at work again.
    fn finished_agent(&mut self) -> Option<Running> {
        let finished = |agent: &&Running| {
            let is_known = self.seat.flow().is_some_and(|flow| flow.has_finished(&agent.id));
            is_known && !self.seat.running.iter().any(|other| other.id == agent.id)
        };
        let ended: Vec<_> = self.ended.iter().filter(finished).cloned().collect();
        let at = self.seat.dice.below(ended.len());
        ended.into_iter().nth(at)
    }

    /// The main agent writes to an agent that has reported: another attempt under the same id.
    fn continue_agent(&mut self) -> Result<()> {
        let Some(agent) = self.finished_agent() else { return Ok(()) };
        let agent = self.again(agent);
        self.orders = None;
        let refused = {
            let answer = self.seat.play(Event::send_message(&agent))?;
            self.listen(answer.as_ref());
            answer.as_ref().is_some_and(super::answers::is_denied)
        };
        if refused {
            self.forget(&agent);
            return Ok(());
        }
        // The end of the run before may come late.
        if self.seat.dice.percent(20) && self.known(&agent).recorded {
            self.seat.play(Event::agent_stop(&wire(agent.agent), &agent.id, "10 failed", Meaning::Beside))?;
        }
        self.restart(&agent)
    }

    /// The user writes to an agent, which the main agent does not know of.
    fn user_writes_to_agent(&mut self) -> Result<()> {
        let Some(agent) = self.finished_agent() else { return Ok(()) };
        let agent = self.again(agent);
        self.restart(&agent)
    }

    /// The same agent in another call: whatever is continued runs in the background.
    fn again(&mut self, agent: Running) -> Running {
        self.calls += 1;
        let call = format!("toolu_{}_{}", self.seat.session, self.calls);
        let agent = Running { call, background: true, recorded: false, dead: false, ..agent };
        self.seat.running.push(agent.clone());
        agent
    }

    fn restart(&mut self, agent: &Running) -> Result<()> {
        self.seat.play(Event::agent_start(&wire(agent.agent), &agent.id))?;
        self.ended.retain(|ended| ended.id != agent.id);
        // A workflow that has ended knows nobody.
        if !self.known(agent).recorded {
            self.seat.excuses.unrecorded += 1;
        }
        if self.seat.dice.percent(60) { self.end_background_agent() } else { Ok(()) }
    }

    /// The client says so in a prompt of its own; nothing more is heard of the agent.
    fn user_stops_agent(&mut self) -> Result<()> {
        let Some(agent) = self.seat.running.iter().find(|a| a.background && !a.dead).cloned() else {
            return Ok(());
        };
        self.orders = None;
        self.mark_dead(&agent);
        self.hear(Event::stopped_by_user())
    }
}
