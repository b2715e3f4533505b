//! What sessions share: open documents and leases on places. One desk per sidecar.
//!
//! A place is written by one call at a time, in the order in which it was asked for; readers
//! share. A lease ends only by `Release`, which the session sends when the call has truly ended:
//! a stopping writer still holds its place (law 4). Document changes go here and never into a
//! session's events, so that one session replays without the others.

use std::collections::{BTreeMap, VecDeque};

use toolgate_protocol::ids::{CallId, SessionId};

use crate::buffers::{Buffer, TextChange, Unit};
use crate::command::Claim;
use crate::document::{DocumentText, Documents};
use crate::place::Place;

/// Who holds or wants a place.
pub type Holder = (SessionId, CallId);

/// Something that happened to the desk.
#[derive(Clone, Debug)]
pub enum DeskEvent {
    /// The editor opened a document.
    Opened {
        /// The document, its place resolved.
        buffer: Box<Buffer>,
    },
    /// The editor changed a document.
    Changed {
        /// Which.
        uri: String,
        /// Its new version.
        version: i32,
        /// The changes, in order.
        changes: Vec<TextChange>,
    },
    /// The editor saved a document.
    Saved {
        /// Which.
        uri: String,
    },
    /// The document, when it was opened, was not what is on disk.
    Differs {
        /// Which.
        uri: String,
    },
    /// The editor closed a document.
    Closed {
        /// Which.
        uri: String,
    },
    /// A call wants places.
    Acquire {
        /// Who.
        holder: Holder,
        /// What.
        claims: Vec<Claim>,
    },
    /// A call has ended, or no longer wants its places.
    Release {
        /// Who.
        holder: Holder,
    },
}

/// A call has its places.
#[derive(Clone, Debug)]
pub struct Grant {
    /// Who.
    pub holder: Holder,
    /// What the desk knows of open documents now.
    pub documents: Documents,
}

/// The desk.
#[derive(Clone, Debug, Default)]
pub struct Desk {
    buffers: BTreeMap<String, Buffer>,
    unit: Unit,
    held: BTreeMap<Holder, Vec<Claim>>,
    waiting: VecDeque<(Holder, Vec<Claim>)>,
}

impl Desk {
    /// A desk whose editor counts positions in this unit.
    pub fn new(unit: Unit) -> Self {
        Self {
            unit,
            ..Self::default()
        }
    }

    /// Takes an event; answers with the calls that have their places now.
    pub fn handle(&mut self, event: DeskEvent) -> Vec<Grant> {
        match event {
            DeskEvent::Opened { buffer } => {
                self.buffers.insert(buffer.document.uri.clone(), *buffer);
            }
            DeskEvent::Changed {
                uri,
                version,
                changes,
            } => {
                if let Some(buffer) = self.buffers.get_mut(&uri) {
                    buffer.change(version, &changes, self.unit);
                }
            }
            DeskEvent::Saved { uri } => self.set_dirty(&uri, false),
            DeskEvent::Differs { uri } => self.set_dirty(&uri, true),
            DeskEvent::Closed { uri } => {
                self.buffers.remove(&uri);
            }
            DeskEvent::Acquire { holder, claims } => self.waiting.push_back((holder, claims)),
            DeskEvent::Release { holder } => {
                self.held.remove(&holder);
                self.waiting.retain(|(waiting, _)| *waiting != holder);
            }
        }
        self.grant()
    }

    /// The open document at a place.
    pub fn document(&self, place: &Place) -> Option<DocumentText> {
        self.buffers
            .values()
            .find(|buffer| buffer.place == *place)
            .map(Buffer::snapshot)
    }

    /// The open document with this URI.
    pub fn by_uri(&self, uri: &str) -> Option<DocumentText> {
        self.buffers.get(uri).map(Buffer::snapshot)
    }

    /// How many documents are open.
    pub fn open_documents(&self) -> usize {
        self.buffers.len()
    }

    /// All open documents: an unsaved one is searched in place of its file.
    pub fn snapshots(&self) -> Vec<DocumentText> {
        self.buffers.values().map(Buffer::snapshot).collect()
    }

    fn set_dirty(&mut self, uri: &str, dirty: bool) {
        if let Some(buffer) = self.buffers.get_mut(uri) {
            buffer.document.dirty = dirty;
        }
    }

    /// Grants in the order of asking; a wish is passed over only if it and all wishes that
    /// stand before it and wait do not meet.
    fn grant(&mut self) -> Vec<Grant> {
        let mut grants = Vec::new();
        let mut still: VecDeque<(Holder, Vec<Claim>)> = VecDeque::new();
        while let Some((holder, claims)) = self.waiting.pop_front() {
            let busy = self.held.values().any(|held| meet(held, &claims))
                || still.iter().any(|(_, before)| meet(before, &claims));
            if busy {
                still.push_back((holder, claims));
                continue;
            }
            self.held.insert(holder.clone(), claims);
            grants.push(Grant {
                holder,
                documents: self.documents(),
            });
        }
        self.waiting = still;
        grants
    }

    fn documents(&self) -> Documents {
        let unsaved = self.buffers.values().filter(|buffer| buffer.document.dirty);
        Documents {
            unsaved: unsaved
                .map(|buffer| buffer.place.path().to_owned())
                .collect(),
            open: self.snapshots(),
        }
    }
}

fn meet(one: &[Claim], other: &[Claim]) -> bool {
    one.iter().any(|a| {
        other
            .iter()
            .any(|b| a.place == b.place && (a.write || b.write))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(path: &str, write: bool) -> Claim {
        Claim {
            place: Place::canonical(path),
            write,
        }
    }

    fn holder(call: &str) -> Holder {
        (SessionId::from("s"), CallId::from(call))
    }

    fn acquire(desk: &mut Desk, call: &str, claims: &[Claim]) -> Vec<String> {
        let event = DeskEvent::Acquire {
            holder: holder(call),
            claims: claims.to_vec(),
        };
        names(desk.handle(event))
    }

    fn release(desk: &mut Desk, call: &str) -> Vec<String> {
        names(desk.handle(DeskEvent::Release {
            holder: holder(call),
        }))
    }

    fn names(grants: Vec<Grant>) -> Vec<String> {
        grants.into_iter().map(|grant| grant.holder.1 .0).collect()
    }

    #[test]
    fn writers_of_one_place_never_overlap_and_come_in_order() {
        let mut desk = Desk::default();
        assert_eq!(acquire(&mut desk, "r1", &[claim("a", false)]), ["r1"]);
        assert_eq!(acquire(&mut desk, "r2", &[claim("a", false)]), ["r2"]);
        assert!(acquire(&mut desk, "w1", &[claim("a", true)]).is_empty());
        // A reader behind a waiting writer waits too: no writer starves.
        assert!(acquire(&mut desk, "r3", &[claim("a", false)]).is_empty());
        assert_eq!(acquire(&mut desk, "w2", &[claim("b", true)]), ["w2"]);
        assert!(release(&mut desk, "r1").is_empty());
        assert_eq!(release(&mut desk, "r2"), ["w1"]);
        assert_eq!(release(&mut desk, "w1"), ["r3"]);
    }
}
