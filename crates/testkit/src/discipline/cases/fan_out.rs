//! Agents without end.

use super::{DONE, PASS};
use crate::discipline::case::Harm::Started;
use crate::discipline::case::Role::{Helper, Planner};
use crate::discipline::case::Step::{DelegateMany, Report, Say};
use crate::discipline::case::{CASE, Case, Informed, Source, Step};

const FAN_OUT: Case = Case { source: Source::FanOut, informed: Informed::MainAgent, ..CASE };

/// The client starts no more than twenty at a time.
const TEN_PLANNERS: Step = DelegateMany(10, Planner);

pub(super) const CASES: &[Case] = &[
    Case {
        name: "thirty-helpers",
        title: "30 general-purpose agents, ten in each message",
        workflow: Some("quick"),
        main: &[DelegateMany(10, Helper), DelegateMany(10, Helper), DelegateMany(10, Helper), Say(DONE)],
        agents: &[(Helper, &[Report("I have looked around.")])],
        harm: &[Started(Helper, 30)],
        facts: &["general-purpose", "30"],
        ..FAN_OUT
    },
    Case {
        name: "sixty-planners",
        title: "60 planners, ten in each message",
        workflow: Some("standard"),
        main: &[
            TEN_PLANNERS,
            TEN_PLANNERS,
            TEN_PLANNERS,
            TEN_PLANNERS,
            TEN_PLANNERS,
            TEN_PLANNERS,
            Say(DONE),
        ],
        agents: &[(Planner, &[Report(PASS)])],
        harm: &[Started(Planner, 60)],
        facts: &["planner", "60"],
        ..FAN_OUT
    },
];
