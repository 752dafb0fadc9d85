//! Delays that vary from packet to packet by a distribution, as netem's do.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::check::{Check, require};
use crate::random::Random;
use crate::units::{Span, Time};

/// Value of a table's entry for one deviation.
const SCALE: i64 = 8_192;
/// Entries of a built-in table.
const ENTRIES: u32 = 4_096;
/// Upper bound of a table's entries, above that of the kernel.
const ENTRIES_MAX: usize = 16_384;

/// Delays by a distribution, part of a link's delay.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariationConfig {
    /// Delay of a packet that draws the number zero.
    pub mean_ns: Span,
    /// Additional delay for each unit of the number. The total is never negative.
    pub deviation_ns: Span,
    /// Distribution of the numbers.
    pub distribution: Distribution,
    /// Late packets are overtaken. Otherwise packets keep their order, and wait before the queue
    /// unless that is scheduled.
    pub overtaken: bool,
}

/// A distribution of numbers. The built-in ones are those of the tables of iproute2.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Distribution {
    /// Uniform from -1 to 1.
    Uniform,
    /// Standard normal, of which nothing is below -4.
    Normal,
    /// Pareto with the exponent 3, less 1.5 and times 4/3, at most 4.
    Pareto,
    /// A quarter of the normal number of a rank and three quarters of the Pareto one.
    ParetoNormal,
    /// Numbers in parts of 8192, each as likely as the others.
    Table(Vec<i16>),
}

impl VariationConfig {
    /// Check the values that the types do not restrict.
    ///
    /// # Errors
    /// The first key at fault.
    pub fn check(&self) -> Check {
        let Distribution::Table(table) = &self.distribution else { return Ok(()) };
        require((1..=ENTRIES_MAX).contains(&table.len()), "distribution.table", || {
            format!("{} numbers, but it must have 1 to {ENTRIES_MAX}", table.len())
        })
    }

    /// Return the longest delay of a packet.
    #[must_use]
    pub fn longest(&self) -> Span {
        let most = match &self.distribution {
            Distribution::Uniform => SCALE,
            Distribution::Table(table) => table.iter().copied().max().unwrap_or(0).into(),
            Distribution::Normal | Distribution::Pareto | Distribution::ParetoNormal => 4 * SCALE,
        };
        delayed(self, most)
    }
}

/// A running model of varying delays.
#[derive(Clone, Debug)]
pub struct Variation {
    config: VariationConfig,
    table: Vec<i16>,
    latest: Time,
    random: Random,
}

impl Variation {
    /// A model before its first packet.
    #[must_use]
    pub fn new(config: &VariationConfig, random: Random) -> Self {
        let table = match &config.distribution {
            Distribution::Uniform => Vec::new(),
            Distribution::Normal => ranks().map(normal).map(entry).collect(),
            Distribution::Pareto => ranks().map(pareto).map(entry).collect(),
            Distribution::ParetoNormal => ranks()
                .map(|rank| {
                    let (normal, pareto) = (entry(normal(rank)), entry(pareto(rank)));
                    ((i32::from(normal) + 3 * i32::from(pareto)) / 4) as i16
                })
                .collect(),
            Distribution::Table(table) => table.clone(),
        };
        Self { config: config.clone(), table, latest: Time::ZERO, random }
    }

    /// Return the time at which a packet that comes at `now` continues.
    #[inline]
    pub fn ready(&mut self, now: Time) -> Time {
        let drawn = now + self.draw();
        if self.config.overtaken {
            return drawn;
        }
        self.latest = self.latest.max(drawn);
        self.latest
    }

    fn draw(&mut self) -> Span {
        // A uniform distribution has no table: all delays within the deviation are equally likely.
        if self.table.is_empty() {
            let VariationConfig { mean_ns, deviation_ns, .. } = self.config;
            let above = self.random.up_to(deviation_ns.0.saturating_mul(2));
            return Span(mean_ns.0.saturating_add(above).saturating_sub(deviation_ns.0));
        }
        let rank = self.random.up_to(self.table.len() as u64 - 1);
        delayed(&self.config, self.table[rank as usize].into())
    }
}

/// Return the delay of a packet with this number, in parts of [`SCALE`].
fn delayed(config: &VariationConfig, number: i64) -> Span {
    let varied = i128::from(config.deviation_ns.0) * i128::from(number) / i128::from(SCALE);
    let delay = i128::from(config.mean_ns.0) + varied;
    Span(u64::try_from(delay.max(0)).unwrap_or(u64::MAX))
}

/// The share of numbers below each entry of a table.
fn ranks() -> impl Iterator<Item = f64> {
    (0..ENTRIES).map(|rank| f64::from(rank) / f64::from(ENTRIES))
}

fn entry(number: f64) -> i16 {
    // The cast saturates: a number of 4 would be 32,768.
    (number * SCALE as f64) as i16
}

/// Return the quantile of a share, for a normal distribution that is cut at -4.
fn normal(share: f64) -> f64 {
    let share = share + below(-4.0);
    // There is no closed form, and bisection gives the same bits on every machine.
    let (mut low, mut high) = (-4.0, 4.0);
    // 20 halvings of 8 reach less than one part of a table's number.
    for _ in 0..20 {
        let middle = f64::midpoint(low, high);
        if below(middle) < share { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Return the share of normal numbers below `number`. `libm` gives the same on every machine.
fn below(number: f64) -> f64 {
    libm::erfc(-number * std::f64::consts::FRAC_1_SQRT_2) / 2.0
}

fn pareto(share: f64) -> f64 {
    (1.0 / libm::cbrt(1.0 - share) - 1.5) * 4.0 / 3.0
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the expectation is a band")]
mod tests {
    use super::*;

    fn variation(distribution: &str, mean: u64, deviation: u64, overtaken: bool) -> Variation {
        let config = format!(
            r#"{{"mean_ns":{mean},"deviation_ns":{deviation},"distribution":{distribution},"overtaken":{overtaken}}}"#
        );
        let config: VariationConfig = serde_json::from_str(&config).unwrap();
        config.check().unwrap();
        Variation::new(&config, Random::new(7, 3))
    }

    /// Mean and deviation of many delays, in deviations around the configured mean.
    fn moments(distribution: &str) -> (f64, f64) {
        let mut variation = variation(distribution, 10_000_000, 1_000_000, true);
        let number = 400_000;
        let delays: Vec<_> =
            (0..number).map(|_| variation.ready(Time(0)).0 as f64 / 1e6 - 10.0).collect();
        let mean = delays.iter().sum::<f64>() / f64::from(number);
        let square = delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>();
        (mean, (square / f64::from(number)).sqrt())
    }

    #[test]
    fn distributions_have_the_moments_of_their_laws() {
        // Pareto: x = 4/3 (u^(-1/3) - 1.5), at most 4 where u < 4.5^-3; its integrals over u. The
        // tables of iproute2 6.1 have -0.033 and 0.820, and -0.025 and 0.834.
        let expected = [
            (r#""uniform""#, 0.0, 1.0 / 3f64.sqrt()),
            (r#""normal""#, 0.0, 1.0),
            (r#""pareto""#, -0.0329, 0.8202),
            (r#""pareto-normal""#, -0.0250, 0.8342),
            (r#"{"table":[-8192,0,0,24576]}"#, 0.5, 1.5),
        ];
        for (distribution, mean, deviation) in expected {
            let measured = moments(distribution);
            // Four standard errors of 400,000 delays, and a little more for a deviation.
            assert!((measured.0 - mean).abs() < 0.0065 * deviation, "{distribution}: {measured:?}");
            assert!(
                (measured.1 - deviation).abs() < 0.01 * deviation,
                "{distribution}: {measured:?}"
            );
        }
    }

    #[test]
    fn tables_are_those_of_iproute2() {
        let table = |name: &str| variation(name, 0, 0, true).table;
        let some = |table: &[i16]| [0, 1, 2_048, 4_095].map(|rank| table[rank]);
        let near = |measured: [i16; 4], known: [i16; 4]| {
            measured.iter().zip(known).all(|(one, two)| one.abs_diff(two) <= 20)
        };
        let (normal, pareto) = (some(&table(r#""normal""#)), some(&table(r#""pareto""#)));
        assert!(near(normal, [-32_768, -28_307, 1, 28_858]), "{normal:?}");
        assert!(near(pareto, [-5_461, -5_460, -2_623, 32_767]), "{pareto:?}");
        let mixed = some(&table(r#""pareto-normal""#));
        assert!(near(mixed, [-12_305, -11_171, -1_967, 31_789]), "{mixed:?}");
    }

    #[test]
    fn packets_keep_their_order_unless_late_ones_are_overtaken() {
        let times = |overtaken| {
            let mut variation = variation(r#""normal""#, 5_000, 5_000, overtaken);
            (0..1_000).map(|at| variation.ready(Time(at * 100))).collect::<Vec<_>>()
        };
        assert!(times(false).is_sorted());
        assert!(!times(true).is_sorted());
        assert!(times(true).iter().enumerate().all(|(at, time)| time.0 >= at as u64 * 100));
    }

    #[test]
    fn the_longest_delay_is_a_bound_and_an_empty_table_is_refused() {
        for name in [r#""uniform""#, r#""normal""#, r#""pareto""#, r#"{"table":[-9000,12000]}"#] {
            let mut variation = variation(name, 3_000, 1_000, true);
            let longest = variation.config.longest();
            assert!((0..10_000).all(|_| variation.ready(Time(0)).0 <= longest.0), "{name}");
        }
        let empty: VariationConfig = serde_json::from_str(
            r#"{"mean_ns":1,"deviation_ns":1,"distribution":{"table":[]},"overtaken":true}"#,
        )
        .unwrap();
        assert_eq!(empty.check().unwrap_err().0, "distribution.table");
    }
}
