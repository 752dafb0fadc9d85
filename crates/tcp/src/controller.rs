//! The algorithm of one connection, with a fresh random number for each call.

use dumbbell_algorithm::{
    AckSample, CaState, Conn, CwndEvent, INFO_MAX, Instance, Need, RateSample, SAMPLED_INFO,
};
use dumbbell_network::Random;

/// An algorithm at work. Its methods are those of [`Instance`].
#[derive(Debug)]
pub struct Controller {
    instance: Instance,
    /// There only if the algorithm needs it.
    random: Option<Box<Random>>,
}

/// Hooks that are passed on as they are, behind a fresh random number.
macro_rules! passed_on {
    ($($hook:ident($($argument:ident: $kind:ty)?) $(-> $answer:ty)?;)*) => {
        $(#[inline(always)]
        pub fn $hook(&mut self, conn: &mut Conn $(, $argument: $kind)?) $(-> $answer)? {
            self.draw(conn);
            self.instance.$hook(conn $(, $argument)?)
        })*
    };
}

impl Controller {
    /// The algorithm, its random numbers drawn from `seed`.
    pub fn new(instance: Instance, seed: u64) -> Self {
        // A draw for each call costs time, and most algorithms never look at it.
        let needs_random = instance.algorithm().flags.contains(&Need::Random);
        let random = needs_random.then(|| Box::new(Random::new(seed, 0)));
        Self { instance, random }
    }

    passed_on! {
        init();
        ssthresh() -> u32;
        undo_cwnd() -> u32;
        cong_avoid(acked_segs: u32);
        pkts_acked(sample: &AckSample);
        cwnd_event(event: CwndEvent);
        set_state(new_state: CaState);
        in_ack_event(flags: u32);
        cong_control(sample: &RateSample);
    }

    /// Whether the algorithm sets the window itself, in recovery too.
    #[inline]
    pub fn has_cong_control(&self) -> bool {
        self.instance.has_cong_control()
    }

    /// Whether old kernels bounded its window as Reno's while losses were repaired.
    pub fn has_renos_bound(&self) -> bool {
        self.instance.algorithm().has_renos_bound()
    }

    /// Whether the algorithm looks at rates of delivery.
    pub fn needs_rates(&self) -> bool {
        self.has_cong_control() || self.instance.algorithm().flags.contains(&Need::Rates)
    }

    /// Whether the algorithm chooses its own pacing rate.
    pub fn sets_rate(&self) -> bool {
        self.has_cong_control() || self.instance.algorithm().flags.contains(&Need::Pacing)
    }

    /// Those of the algorithm's internal values that are sampled.
    pub fn info(&self, conn: &Conn) -> [u32; SAMPLED_INFO] {
        self.instance.info(conn)
    }

    /// The algorithm's mode, and all its internal values; none: it has no modes.
    pub fn mode(&self, conn: &Conn) -> Option<(u32, [u32; INFO_MAX])> {
        self.instance.mode(conn)
    }

    #[inline(always)]
    fn draw(&mut self, conn: &mut Conn) {
        if let Some(random) = &mut self.random {
            conn.random = random.next_u32();
        }
    }
}
