//! Sending agents, and how they end.

use overtone_core::registry::{Agent, Hook};
use serde_json::Value;

use super::Player;
use crate::error::Result;
use crate::soak::checks::answers::{is_denied, is_sent_back};
use crate::soak::disk::Flow;
use crate::soak::event::{Channel, Client, Event, Meaning, Running, misspelled, wire};
use crate::soak::seat::is_allowed;
use crate::soak::words::{Content, News, Said, say};

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
    /// The user interrupts it; nothing more is heard.
    Interrupted,
    /// The user interrupts the main agent; the client raises no event for the agent.
    CutShort,
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
        let events: Vec<_> = calls.iter().map(Event::delegate).collect();
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
        let is_exact = !self.seat.dice.percent(self.temper.bad_ends / 2);
        let kind = if is_exact { wire(agent) } else { misspelled(agent) };
        Running { agent, call, id, kind, background: false, recorded: false, dead: false }
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
            // Most clients do not know an agent by another name.
            let is_unknown = agent.kind != wire(agent.agent) && self.seat.dice.percent(70);
            let end = if is_unknown { End::NotLaunched } else { self.choose_end() };
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
        self.delegate_too_early()?;
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
        let ends = [
            End::OutOfTurns,
            End::ApiError,
            End::NotLaunched,
            End::Interrupted,
            End::CutShort,
            End::Vanishes,
        ];
        self.seat.dice.pick(&ends)
    }

    /// The agent as the model has it now.
    pub(super) fn known(&self, agent: &Running) -> Running {
        self.seat.running.iter().find(|other| other.call == agent.call).unwrap_or(agent).clone()
    }

    fn not_launched(&mut self, agent: &Running) -> Result<()> {
        let agent = self.known(agent);
        let error = format!("Agent type '{}' not found", agent.kind);
        let gone = Meaning::Gone { reporter: agent.reporter(), channel: Channel::Failure };
        let meaning = if agent.recorded { gone } else { Meaning::Beside };
        self.hear(Event::agent_failed(&agent, &error, false, meaning))?;
        self.forget(&agent);
        Ok(())
    }

    /// A sub-agent works: it may write only if its kind may, and never delegates stages.
    fn look_over_shoulder(&mut self, agents: &[Running]) -> Result<()> {
        let Some(agent) = agents.first().filter(|_| self.seat.dice.percent(10)) else { return Ok(()) };
        let open = self.seat.flow().is_some_and(Flow::is_open);
        let answer = self.seat.play(Event::nested_delegate(agent, Agent::Tester))?;
        if open && answer.as_ref().is_some_and(|answer| !is_denied(answer)) {
            return Err(self.seat.broken("only the main agent delegates stages", "it was let through", &[]));
        }
        let answer = self.seat.play(Event::write_by(agent))?;
        let may = agent.agent.tools().permits("Write");
        if answer.as_ref().is_some_and(|answer| is_denied(answer) == may) {
            return Err(self.seat.broken("read-only agents do not write", agent.agent.name(), &[]));
        }
        Ok(())
    }

    /// While agents work, the main agent tries the next stage.
    fn delegate_too_early(&mut self) -> Result<()> {
        if !self.seat.dice.percent(self.temper.bad_ends / 2) {
            return Ok(());
        }
        let Some(agent) = self.somebody_too_early() else { return Ok(()) };
        let call = self.call(agent);
        self.seat.play(Event::delegate(&call))?;
        Ok(())
    }

    /// Those that report do so at the same time; the tool's results come after.
    fn end_all(&mut self, agents: &[(Running, End)]) -> Result<()> {
        let reporting = agents.iter().filter(|(_, end)| *end == End::Reports).map(|(agent, _)| agent.clone());
        let hands_back = self.hands_back();
        let mut said = self.report_all(&reporting.collect::<Vec<_>>(), hands_back)?.into_iter();
        let mut results = Vec::new();
        for (agent, end) in agents {
            let reported = if *end == End::Reports { said.next() } else { None };
            let said = match reported {
                Some(said) => said,
                None => self.speak(agent.agent),
            };
            let mut result = self.result(agent, *end, &said);
            if let Some(event) = result.as_mut().filter(|_| hands_back && *end == End::Reports) {
                event.fields["tool_response"]["handback"] = self.seat.dice.pick(&["send", "flagged"]).into();
            }
            results.extend(result);
        }
        // Whose call has failed is known for sure once the others have come back.
        let (failures, results): (Vec<_>, Vec<_>) =
            results.into_iter().partition(|event| event.hook == Hook::PostUseFailure);
        let mut heard = self.play_all_of(results)?;
        for failure in failures {
            heard.push(self.seat.play(failure)?);
        }
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
        let news = if self.seat.dice.percent(self.temper.unclear) {
            News::Unclear
        } else if self.seat.dice.percent(self.temper.unclear / 2) {
            News::Blocked
        } else if self.seat.dice.percent(self.temper.bad_news) {
            News::Bad
        } else {
            News::Good
        };
        say(&mut self.seat.dice, agent, news)
    }

    /// Plays the reports of agents, all at the same time or handed back one by one, until none is sent back. Returns
    /// what each has said last.
    fn report_all(&mut self, agents: &[Running], hands_back: bool) -> Result<Vec<Said>> {
        let mut said = Vec::new();
        for agent in agents {
            self.do_the_tasks(agent, 70)?;
            said.push(self.speak(agent.agent));
        }
        if hands_back {
            for (agent, said) in agents.iter().zip(&mut said) {
                self.hand_back(agent, said)?;
            }
            return Ok(said);
        }
        let mut open: Vec<_> = (0..agents.len()).collect();
        while !open.is_empty() {
            let reports =
                open.iter().map(|at| self.report(&agents[*at], Channel::Stop, &said[*at])).collect();
            let answers = self.play_all_of(reports)?;
            let mut sent_back = Vec::new();
            for (at, answer) in open.into_iter().zip(answers) {
                if answer.as_ref().is_some_and(is_sent_back) {
                    said[at] = self.speak_again(&agents[at])?;
                    sent_back.push(at);
                }
            }
            open = sent_back;
        }
        Ok(said)
    }

    /// The agent ends its work, perhaps with words, hands its report back, and ends.
    fn hand_back(&mut self, agent: &Running, said: &mut Said) -> Result<()> {
        // Without words it would be the end after the report.
        if !said.text.is_empty() && self.seat.dice.percent(50) {
            let report = self.report(agent, Channel::StopBeforeHandback, said);
            if self.seat.play(report)?.as_ref().is_some_and(is_sent_back) {
                *said = self.speak_again(agent)?;
            }
        }
        loop {
            let report = self.report(agent, Channel::Handback, said);
            if self.seat.play(report)?.as_ref().is_some_and(is_sent_back) {
                *said = self.speak_again(agent)?;
                continue;
            }
            let silent = Said { text: String::new(), content: Content::Unclear };
            let end = self.report(agent, Channel::Stop, &silent);
            if !self.seat.play(end)?.as_ref().is_some_and(is_sent_back) {
                return Ok(());
            }
            *said = self.speak_again(agent)?;
        }
    }

    /// Newer clients have agents hand their reports back, in some modes.
    fn hands_back(&mut self) -> bool {
        self.seat.client == Client::New && self.seat.dice.percent(40)
    }

    fn speak_again(&mut self, agent: &Running) -> Result<Said> {
        self.do_the_tasks(agent, 60)?;
        Ok(self.speak(agent.agent))
    }

    /// A developer ticks the tasks that are done: all of them in so many of a hundred cases.
    fn do_the_tasks(&mut self, agent: &Running, chance: u8) -> Result<()> {
        if agent.agent != Agent::Developer {
            return Ok(());
        }
        let all = self.seat.dice.percent(chance);
        self.tick(all)
    }

    /// The event of a report. One that the workflow does not wait for must not count again.
    fn report(&self, agent: &Running, channel: Channel, said: &Said) -> Event {
        let is_over = self.seat.flow().is_some_and(|flow| flow.has_finished(&agent.id));
        let meaning = match self.seat.running.iter().find(|other| other.call == agent.call) {
            _ if is_over => Meaning::Beside,
            Some(running) if running.recorded => {
                Meaning::Report { reporter: agent.reporter(), channel, content: said.content }
            }
            _ => Meaning::StrayEnds,
        };
        let kind = wire(agent.agent);
        match channel {
            Channel::Handback => Event::hand_back(agent, &said.text, meaning),
            Channel::StopBeforeHandback => {
                Event::agent_stop_in_auto_mode(&kind, &agent.id, &said.text, meaning)
            }
            _ => Event::agent_stop(&kind, &agent.id, &said.text, meaning),
        }
    }

    /// What the Agent tool says in the end.
    fn result(&mut self, agent: &Running, end: End, said: &Said) -> Option<Event> {
        let content = if end == End::ApiError { Content::Broken } else { said.content };
        let fails = end == End::ApiError && self.seat.client == Client::New;
        let channel = if fails { Channel::Failure } else { Channel::Result };
        let meaning = match (self.is_waited_for(agent), fails) {
            (true, _) => Meaning::Report { reporter: agent.reporter(), channel, content },
            (false, true) => Meaning::Beside,
            (false, false) => Meaning::Delivery,
        };
        let returned =
            |text: &str, meaning| Event::returned(&agent.kind, &agent.call, &agent.id, text, meaning);
        match end {
            End::Reports | End::OutOfTurns => Some(returned(&said.text, meaning)),
            End::ApiError if fails => {
                Some(Event::agent_failed(agent, "API Error: 529 overloaded", false, meaning))
            }
            End::ApiError => Some(returned("API Error: 529", meaning)),
            End::NotLaunched | End::Interrupted | End::CutShort | End::Vanishes => None,
        }
    }

    fn is_waited_for(&self, agent: &Running) -> bool {
        self.seat.running.iter().any(|other| other.call == agent.call && other.recorded)
    }

    fn after_end(&mut self, agent: &Running, end: End) -> Result<()> {
        match end {
            End::Interrupted => {
                let meaning = if self.is_waited_for(agent) {
                    Meaning::Interrupted(agent.reporter())
                } else {
                    Meaning::Beside
                };
                self.seat.play(Event::agent_failed(agent, "interrupted", true, meaning))?;
                self.mark_dead(agent);
                self.user_interrupts()
            }
            End::CutShort => {
                self.mark_dead(agent);
                self.user_interrupts()
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

    pub(super) fn mark_dead(&mut self, agent: &Running) {
        self.seat.running.iter_mut().filter(|a| a.call == agent.call).for_each(|a| a.dead = true);
        // What was never recorded is missed by nobody.
        self.seat.running.retain(|a| a.recorded || !a.dead);
    }

    /// An agent without a record leaves nothing behind.
    pub(super) fn forget(&mut self, agent: &Running) {
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
        let silent = self.seat.dice.percent(self.temper.bad_ends);
        let hands_back = !silent && self.hands_back();
        let said = if silent {
            self.speak(agent.agent)
        } else {
            self.report_all(std::slice::from_ref(&agent), hands_back)?.remove(0)
        };
        let killed = silent && self.seat.dice.percent(50);
        // Only a report that was handed back comes in a message of its own.
        let channel = if hands_back { Channel::Message } else { Channel::Notification };
        let reporter = agent.reporter();
        let meaning = match (self.is_waited_for(&agent), killed) {
            (true, true) => Meaning::Gone { reporter, channel },
            (true, false) => Meaning::Report { reporter, channel, content: said.content },
            (false, _) => Meaning::Delivery,
        };
        let status = if killed { "killed" } else { "completed" };
        self.hear(match channel {
            Channel::Message => Event::delivered(&agent, &said.text, meaning),
            _ => Event::notification(&agent, status, &said.text, meaning),
        })?;
        self.forget(&agent);
        // One whose record names neither its id nor its call is heard of no more.
        self.mark_dead(&agent);
        self.ended.push(agent);
        Ok(())
    }
}
