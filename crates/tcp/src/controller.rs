//! The algorithm of one connection, with a fresh random number for each call.

use dumbbell_algorithm::{
    AckSample, CaState, Conn, CwndEvent, INFO_MAX, Instance, Need, RateSample, SAMPLED_INFO,
};
use dumbbell_network::Random;

/// A running algorithm. Its methods are those of [`Instance`].
#[derive(Debug)]
pub struct Controller {
    instance: Instance,
    /// None unless the algorithm needs random numbers.
    random: Option<Box<Random>>,
}

/// Hooks that call the algorithm unchanged, after a new random number.
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
    /// A controller of an algorithm that draws random numbers from `seed`.
    pub fn new(instance: Instance, seed: u64) -> Self {
        // A draw for each call costs time, and most algorithms need none.
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

    /// Return whether the algorithm sets the window itself, in recovery too.
    #[inline]
    pub fn has_cong_control(&self) -> bool {
        self.instance.has_cong_control()
    }

    /// Return whether old kernels bounded its window like Reno's while losses were repaired.
    pub fn has_renos_bound(&self) -> bool {
        self.instance.algorithm().has_renos_bound()
    }

    /// Return whether the algorithm needs samples of the delivery rate.
    pub fn needs_rates(&self) -> bool {
        self.has_cong_control() || self.instance.algorithm().flags.contains(&Need::Rates)
    }

    /// Return whether the algorithm sets its own pacing rate.
    pub fn sets_rate(&self) -> bool {
        self.has_cong_control() || self.instance.algorithm().flags.contains(&Need::Pacing)
    }

    /// Return the sampled internal values of the algorithm.
    pub fn info(&self, conn: &Conn) -> [u32; SAMPLED_INFO] {
        self.instance.info(conn)
    }

    /// Return the algorithm's mode and all its internal values. None if it has no modes.
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
