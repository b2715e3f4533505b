//! The random world: two sessions and a desk, driven by a seed through everything that can happen
//! to them, with files that exist only here. The laws are checked from the outside, by `laws`,
//! which knows what it fed in and sees every command that comes out.
//!
//! Nothing here reads a clock or a disk: the same seed gives the same world.

pub mod rng;
pub mod model;
mod tools;
mod known;
pub mod laws;
mod starts;
mod complete;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use toolgate_core::buffers::Unit;
use toolgate_core::catalog::Catalog;
use toolgate_core::command::{Command, Task};
use toolgate_core::definition::ToolFace;
use toolgate_core::desk::{Desk, DeskEvent};
use toolgate_core::event::{Event, RequestId, StreamEvent};
use toolgate_core::job::Job;
use toolgate_core::ledger::ReadPolicy;
use toolgate_core::permission::{RuleList, RuleSet, SourceKind};
use toolgate_core::place::{Aim, Place};
use toolgate_core::schedule::{CancelSiblings, EarlyStart, Policy, Rules};
use toolgate_core::session::{Limits, Session, Setup, State};
use toolgate_core::text::FileText;
use toolgate_protocol::asks::AskOpened;
use toolgate_protocol::ids::{CallId, SessionId, TurnId};
use toolgate_protocol::notices::Mode;
use toolgate_protocol::requests::{PromptBlock, When};

use laws::Checks;
use rng::Rng;

/// What is under way and will come back as an event, at any time and in any order.
#[derive(Clone, Debug)]
enum Pending {
    Probe {
        call: CallId,
        cwd: String,
        aims: Vec<Aim>,
    },
    Look {
        call: CallId,
        place: Place,
    },
    Job {
        call: Option<CallId>,
        job: Job,
    },
    Granted {
        call: CallId,
    },
    Durable {
        token: u32,
        facts: usize,
    },
    Running {
        task: Task,
        stopped: bool,
    },
    Ask {
        opened: AskOpened,
        hunks: Vec<String>,
    },
    Stream {
        request: RequestId,
        events: VecDeque<StreamEvent>,
    },
}

/// One session and what is under way for it.
pub struct Sim {
    id: SessionId,
    setup: Arc<Setup>,
    state: State,
    session: Session,
    pending: Vec<Pending>,
    /// Every event it got, when it is one of those that are replayed.
    trace: Option<Vec<(Event, String)>>,
    /// What is known of it from the outside.
    pub checks: Checks,
    prompts: usize,
}

/// The world.
pub struct World {
    rng: Rng,
    /// The files.
    pub files: BTreeMap<String, String>,
    desk: Desk,
    sims: Vec<Sim>,
    turns: usize,
    /// What was seen to happen, and what broke a law.
    pub report: laws::Report,
}

impl World {
    /// The world of a seed.
    pub fn new(seed: u64, report: laws::Report) -> Self {
        let mut rng = Rng::new(seed);
        let files = model::FILES
            .iter()
            .map(|path| ((*path).to_owned(), "line 1\nline 2\nline 3\n".to_owned()))
            .collect();
        let scheduler = Rules {
            policy: *rng.pick(&[
                Policy::Resources,
                Policy::Resources,
                Policy::Batches,
                Policy::Sequential,
            ]),
            max_concurrency: 1 + rng.below(4),
            early_start: *rng.pick(&[EarlyStart::Safe, EarlyStart::All, EarlyStart::Off]),
            cancel_siblings: *rng.pick(&[
                CancelSiblings::BashEffectful,
                CancelSiblings::Bash,
                CancelSiblings::Never,
            ]),
            whole_response: false,
        };
        let mut world = Self {
            rng,
            files,
            desk: Desk::new(Unit::Utf16),
            sims: Vec::new(),
            turns: 0,
            report,
        };
        for number in 0..2 {
            let sim = world.sim(number, scheduler);
            world.sims.push(sim);
        }
        world
    }

    fn sim(&mut self, number: usize, scheduler: Rules) -> Sim {
        let id = SessionId(format!("s{number}"));
        let mut faces: Vec<ToolFace> = toolgate::tools::all()
            .into_iter()
            .map(|tool| tool.face)
            .collect();
        faces.push(Arc::new(model::Odd));
        faces.push(Arc::new(model::Panics));
        let setup = Arc::new(Setup {
            session: id.clone(),
            catalog: Catalog::new(faces),
            system: Arc::from("[]"),
            home: "/home/dev".to_owned(),
            roots: vec!["/w".to_owned()],
            fold_case: false,
            scheduler,
            read_policy: ReadPolicy::Auto,
            limits: Limits {
                max_turns: Some(12),
                max_retries: 2,
                ..Limits::default()
            },
        });
        let mut list = RuleList::new(SourceKind::User, "user".to_owned(), "/w".to_owned());
        list.deny = vec!["Read(/secret)".to_owned(), "Bash(rm *)".to_owned()];
        if self.rng.permille(600) {
            list.allow = vec!["Edit(/a)".to_owned(), "Bash(make *)".to_owned()];
        }
        if self.rng.permille(300) {
            list.ask = vec!["Bash(make b)".to_owned(), "Read(/c)".to_owned()];
        }
        let (rules, _) = RuleSet::parse(&[list.clone()]);
        let mode = *self
            .rng
            .pick(&[Mode::Default, Mode::AcceptEdits, Mode::AcceptEdits]);
        let state = State {
            mode,
            model: "m".to_owned(),
            cwd: "/w".to_owned(),
            rules,
        };
        let (session, commands) = Session::new(Arc::clone(&setup), state.clone());
        let trace = self.rng.permille(250).then(Vec::new);
        let mut checks = Checks::new(scheduler, &list);
        for command in &commands {
            checks.command(command, &self.files, &mut self.report);
        }
        Sim {
            id,
            setup,
            state,
            session,
            pending: Vec::new(),
            trace,
            checks,
            prompts: 0,
        }
    }

    /// Lets so many events happen, then lets everything come to its end.
    pub fn run(&mut self, events: u64) {
        let until = self.report.events + events;
        while self.report.events < until {
            self.step();
        }
        // Whatever is under way ends now; nothing new begins.
        for _ in 0..20_000 {
            let Some(sim) = self.sims.iter().position(|sim| !sim.pending.is_empty()) else {
                break;
            };
            let at = self.rng.below(self.sims[sim].pending.len());
            self.complete(sim, at, true);
        }
        for sim in &self.sims {
            sim.checks
                .at_the_end(sim.session.turn_id().is_none(), &mut self.report);
            sim.replay(&mut self.report);
        }
    }

    fn step(&mut self) {
        let sim = self.rng.below(self.sims.len());
        if self.sims[sim].session.turn_id().is_none() {
            return self.prompt(sim, When::NextRequest);
        }
        match self.rng.below(1_000) {
            0..=7 => self.give(sim, Event::Cancel),
            8..=15 => self.cancel_a_call(sim),
            16..=30 => self.outside_write(),
            31..=34 => {
                let when = *self.rng.pick(&[
                    When::NextRequest,
                    When::Steer,
                    When::Interrupt,
                    When::AfterTurn,
                ]);
                self.prompt(sim, when);
            }
            35..=36 => self.give(sim, Event::SetModel("n".to_owned())),
            _ => {
                let pending = self.sims[sim].pending.len();
                if pending > 0 {
                    let at = self.rng.below(pending);
                    self.complete(sim, at, false);
                }
            }
        }
    }

    fn prompt(&mut self, sim: usize, when: When) {
        self.turns += 1;
        self.sims[sim].prompts += 1;
        let turn = TurnId(format!("t{}", self.turns));
        let content = vec![PromptBlock::Text {
            text: format!("do {}", self.turns),
        }];
        self.give(
            sim,
            Event::Prompt {
                turn,
                content,
                when,
            },
        );
    }

    fn cancel_a_call(&mut self, sim: usize) {
        let calls: Vec<CallId> = self.sims[sim]
            .session
            .calls()
            .iter()
            .map(|call| call.id.clone())
            .collect();
        if !calls.is_empty() {
            let call = self.rng.pick(&calls).clone();
            self.give(sim, Event::CancelCall(call));
        }
    }

    /// Somebody else writes a file.
    fn outside_write(&mut self) {
        let path = *self.rng.pick(&model::FILES[..3]);
        let text = format!(
            "line {}\nline 2\nline {}\n",
            self.rng.below(9),
            self.rng.below(9)
        );
        self.files.insert(path.to_owned(), text);
        self.sims.iter_mut().for_each(|sim| sim.checks.disturbed());
        self.report.count("outside write");
        // The hint comes, or not, or for nothing.
        if self.rng.permille(500) {
            let place = Place::canonical(path);
            let text = self
                .files
                .get(path)
                .map(|text| FileText::from_document(text).version());
            for sim in 0..self.sims.len() {
                let (place, version) = (place.clone(), text);
                self.give(sim, Event::FileChanged { place, version });
            }
        }
    }

    /// Gives an event to a session, checks its commands, and puts what they begin under way.
    pub(super) fn give(&mut self, at: usize, event: Event) {
        self.report.events += 1;
        let sim = &mut self.sims[at];
        sim.checks.event(&event, &mut self.report);
        let commands = sim.session.handle(event.clone());
        if let Some(trace) = &mut sim.trace {
            trace.push((event, format!("{commands:?}")));
        }
        for command in commands {
            self.take(at, command);
        }
    }

    pub(super) fn take(&mut self, at: usize, command: Command) {
        let sim = &mut self.sims[at];
        sim.checks.command(&command, &self.files, &mut self.report);
        match command {
            Command::Request(request) => {
                let checks = &sim.checks;
                let seen = |path: &str| checks.seen_text(path);
                let events = model::answer(&mut self.rng, &seen).into();
                sim.pending.push(Pending::Stream {
                    request: request.id,
                    events,
                });
            }
            Command::StopRequest(id) => sim
                .pending
                .retain(|p| !matches!(p, Pending::Stream { request, .. } if *request == id)),
            Command::Probe { call, cwd, aims } => {
                sim.pending.push(Pending::Probe { call, cwd, aims });
            }
            Command::Look { call, place } => sim.pending.push(Pending::Look { call, place }),
            Command::Compute { call, job } => sim.pending.push(Pending::Job { call, job }),
            Command::Acquire { call, claims } => {
                let holder = (sim.id.clone(), call);
                let grants = self.desk.handle(DeskEvent::Acquire { holder, claims });
                self.granted(grants);
            }
            Command::Release(call) => {
                let holder = (sim.id.clone(), call);
                let grants = self.desk.handle(DeskEvent::Release { holder });
                self.granted(grants);
            }
            Command::Sync { token } => {
                let facts = sim.checks.facts();
                sim.pending.push(Pending::Durable { token, facts });
            }
            Command::Run(task) => self.started(at, task),
            Command::Stop { call, .. } => {
                for pending in &mut sim.pending {
                    if let Pending::Running { task, stopped } = pending {
                        *stopped |= task.call == call;
                    }
                }
            }
            Command::Ask { opened, plan } => {
                let hunks = plan.map_or_else(Vec::new, |plan| {
                    plan.hunks.iter().map(|hunk| hunk.id.0.clone()).collect()
                });
                sim.pending.push(Pending::Ask {
                    opened: *opened,
                    hunks,
                });
            }
            Command::CloseAsk(closed) => sim.pending.retain(
                |p| !matches!(p, Pending::Ask { opened, .. } if opened.ask_id == closed.ask_id),
            ),
            Command::Append(_)
            | Command::RefuseAnswer { .. }
            | Command::Tell(_)
            | Command::SaveRule { .. } => {}
        }
    }

    fn started(&mut self, at: usize, task: Task) {
        let writer = laws::writes(&task);
        if let Some(path) = &writer {
            let other = self
                .sims
                .iter()
                .flat_map(|sim| &sim.pending)
                .any(|pending| {
                    matches!(pending, Pending::Running { task, .. }
                    if laws::writes(task).as_ref() == Some(path))
                });
            self.report
                .law(4, !other, || format!("two writers of {path} overlap"));
        }
        self.sims[at].pending.push(Pending::Running {
            task,
            stopped: false,
        });
    }

    pub(super) fn granted(&mut self, grants: Vec<toolgate_core::desk::Grant>) {
        for grant in grants {
            let (session, call) = grant.holder;
            if let Some(sim) = self.sims.iter_mut().find(|sim| sim.id == session) {
                sim.pending.push(Pending::Granted { call });
            }
        }
    }
}

impl Sim {
    /// Law 10: the same events give the same commands.
    fn replay(&self, report: &mut laws::Report) {
        let Some(trace) = &self.trace else { return };
        let (mut again, _) = Session::new(Arc::clone(&self.setup), self.state.clone());
        for (event, commands) in trace {
            let now = format!("{:?}", again.handle(event.clone()));
            let same = now == *commands;
            report.law(10, same, || format!("{event:?}: {commands} and then {now}"));
            if !same {
                return;
            }
        }
        report.count("session replayed");
    }
}
