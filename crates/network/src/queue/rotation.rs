//! Deficit round robin with precedence for new flows (RFC 8290, section 4.2; after
//! Shreedhar and Varghese 1995): whose turn it is.

use crate::fifo::Fifo;

/// Flows that wait for their turn, each at most once.
#[derive(Clone, Debug, Default)]
pub struct Rotation {
    new: Fifo<u32>,
    old: Fifo<u32>,
}

impl Rotation {
    /// A flow joins that was not there.
    #[inline]
    pub fn join(&mut self, flow: u32) {
        self.new.push(flow);
    }

    /// Whose turn it is: new flows come before old ones.
    #[inline]
    pub fn turn(&self) -> Option<u32> {
        self.new.front().or_else(|| self.old.front())
    }

    /// That flow has used its turn and goes to the end of the old ones, if there are others.
    #[inline]
    pub fn next(&mut self) {
        // Alone it would come back at once: no move is needed.
        if self.new.len() == 0 && self.old.len() == 1 {
            return;
        }
        if let Some(flow) = self.new.pop().or_else(|| self.old.pop()) {
            self.old.push(flow);
        }
    }

    /// That flow has nothing to send. A new one becomes old, so that it cannot come back
    /// as new before all others had their turn; an old one leaves. Whether it left.
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
