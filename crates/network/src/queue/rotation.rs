//! Deficit round robin with precedence for new flows (RFC 8290, section 4.2; after Shreedhar and
//! Varghese 1995): the order of turns.

use crate::fifo::Fifo;

/// Flows that wait for their turn, each at most once.
#[derive(Clone, Debug, Default)]
pub struct Rotation {
    new: Fifo<u32>,
    old: Fifo<u32>,
}

impl Rotation {
    /// Add a flow that is not in the rotation.
    #[inline]
    pub fn join(&mut self, flow: u32) {
        self.new.push(flow);
    }

    /// The flow whose turn it is; None if there is no flow. New flows come before old ones.
    #[inline]
    pub fn turn(&self) -> Option<u32> {
        self.new.front().or_else(|| self.old.front())
    }

    /// Move the flow that has used its turn to the end of the old ones, if there are others.
    #[inline]
    pub fn next(&mut self) {
        // A flow that is alone would return at once, so it need not move.
        if self.new.len() == 0 && self.old.len() == 1 {
            return;
        }
        if let Some(flow) = self.new.pop().or_else(|| self.old.pop()) {
            self.old.push(flow);
        }
    }

    /// Remove the flow whose turn it is, because it has nothing to send. Return whether it left. A
    /// new flow becomes old instead, so it cannot return as new before all others had their turn.
    #[inline]
    pub fn rest(&mut self) -> bool {
        if let Some(flow) = self.new.pop() {
            self.old.push(flow);
            return false;
        }
        self.old.pop().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_flows_come_first_and_cannot_stay_new() {
        let mut rotation = Rotation::default();
        rotation.join(1);
        rotation.next();
        rotation.join(2);
        assert_eq!(rotation.turn(), Some(2));
        assert!(!rotation.rest());
        assert_eq!(rotation.turn(), Some(1));
        rotation.next();
        assert_eq!(rotation.turn(), Some(2));
        assert!(rotation.rest());
        assert_eq!(rotation.turn(), Some(1));
        assert!(rotation.rest());
        assert_eq!(rotation.turn(), None);
    }
}
