//! Departure times of datagrams in the network.

use std::collections::VecDeque;

use dumbbell_network::{Span, Time};

/// Datagrams of a flow from their departure until each has arrived or is lost. They are numbered
/// from zero in the order in which they are sent.
#[derive(Debug, Default)]
pub struct UnderWay {
    /// Number of the first datagram in the list.
    first: u64,
    datagrams: VecDeque<Datagram>,
}

#[derive(Debug)]
struct Datagram {
    sent: Time,
    /// Copies in the network.
    copies: u32,
}

impl UnderWay {
    /// Note that the next datagram is sent.
    pub fn send(&mut self, now: Time) {
        self.datagrams.push_back(Datagram { sent: now, copies: 1 });
    }

    /// Note a duplicate of a datagram in the network.
    pub fn double(&mut self, number: u64) {
        self.datagram(number).copies += 1;
    }

    /// Remove a datagram or its copy; return the time since it was sent.
    pub fn end(&mut self, number: u64, now: Time) -> Span {
        let datagram = self.datagram(number);
        datagram.copies -= 1;
        let delay = now.since(datagram.sent);
        while self.datagrams.front().is_some_and(|front| front.copies == 0) {
            self.datagrams.pop_front();
            self.first += 1;
        }
        delay
    }

    fn datagram(&mut self, number: u64) -> &mut Datagram {
        let place = (number - self.first) as usize;
        self.datagrams.get_mut(place).expect("a datagram that is under way")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_are_kept_until_no_copy_is_under_way() {
        let mut under_way = UnderWay::default();
        (0..5).for_each(|sent| under_way.send(Time(10 * sent)));
        under_way.double(1);
        assert_eq!(under_way.end(1, Time(17)), Span(7));
        assert_eq!(under_way.end(0, Time(20)), Span(20));
        assert_eq!(under_way.datagrams.len(), 4);
        assert_eq!(under_way.end(3, Time(31)), Span(1));
        assert_eq!(under_way.end(1, Time(40)), Span(30));
        assert_eq!((under_way.first, under_way.datagrams.len()), (2, 3));
        assert_eq!(under_way.end(2, Time(50)), Span(30));
        assert_eq!((under_way.first, under_way.datagrams.len()), (4, 1));
    }
}
