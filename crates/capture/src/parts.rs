//! The history of one direction of a connection, in equal parts of the time.

/// Round trips, or one side of them, that end in a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rtts {
    count: u64,
    sum_ns: u64,
    pub max_ns: u64,
}

impl Rtts {
    pub fn add(&mut self, rtt_ns: u64) {
        self.take(&Self { count: 1, sum_ns: rtt_ns, max_ns: rtt_ns });
    }

    pub fn mean_ns(&self) -> Option<u64> {
        self.sum_ns.checked_div(self.count)
    }

    fn take(&mut self, other: &Self) {
        self.count += other.count;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

/// A step with packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// Its number, from 0 where the capture begins.
    pub number: u64,
    /// Bytes seen for the first time.
    pub new_bytes: u64,
    pub acknowledged_bytes: u64,
    pub again_bytes: u64,
    /// Most unacknowledged bytes, and the largest window that the receiver offered.
    pub in_flight_bytes: u64,
    pub window_bytes: u64,
    /// Round trip on the receiver's side of the capture, and on the sender's.
    pub there: Rtts,
    pub here: Rtts,
}

impl Part {
    fn take(&mut self, other: &Self) {
        self.new_bytes += other.new_bytes;
        self.acknowledged_bytes += other.acknowledged_bytes;
        self.again_bytes += other.again_bytes;
        self.in_flight_bytes = self.in_flight_bytes.max(other.in_flight_bytes);
        self.window_bytes = self.window_bytes.max(other.window_bytes);
        self.there.take(&other.there);
        self.here.take(&other.here);
    }
}

/// The steps with packets, in order of time.
#[derive(Debug, Default)]
pub(crate) struct Parts(Vec<Part>);

impl Parts {
    /// The step with a number, which is never below the latest.
    pub fn at(&mut self, number: u64) -> &mut Part {
        if self.0.last().is_none_or(|last| last.number < number) {
            self.0.push(Part { number, ..Part::default() });
        }
        self.0.last_mut().expect("one was just there")
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Part> {
        self.0.iter()
    }

    /// Make each step twice as long.
    pub fn halve(&mut self) {
        self.0.iter_mut().for_each(|part| part.number /= 2);
        self.0.dedup_by(|later, earlier| {
            let is_same = later.number == earlier.number;
            if is_same {
                earlier.take(later);
            }
            is_same
        });
    }
}
