//! Times of requests, of one connection or of several that answer a query together.

use std::collections::BTreeMap;

use dumbbell_network::{Random, Route, Span, Time};

use crate::flow::{Demand, Flow, Requests, Transport};

/// First random stream of queries. Those of flows have lower numbers.
const QUERY_STREAMS: u64 = 1 << 33;

/// Times at which requests begin.
#[derive(Debug)]
pub struct Pauses {
    pause: Span,
    period: Option<Span>,
    /// None: all pauses are equal.
    random: Option<Random>,
    /// Begin of the first request.
    first: Time,
}

impl Pauses {
    /// Pauses between requests, the first of which begins at `first`.
    #[must_use]
    pub fn new(requests: &Requests, first: Time, random: Random) -> Self {
        Self {
            pause: requests.pause_ns,
            period: requests.period_ns.map(|period| Span(period.get())),
            random: requests.random.then_some(random),
            first,
        }
    }

    /// Begin of the next request if the one before is complete at `now`.
    pub fn next(&mut self, now: Time) -> Time {
        if let Some(period) = self.period {
            let periods = now.since(self.first).0.div_ceil(period.0);
            return self.first + Span(period.0.saturating_mul(periods)).min(Span::LONGEST);
        }
        let pause = self.pause;
        let drawn = self.random.as_mut().map(|random| random.exponential(pause));
        now + drawn.map_or(pause, |drawn| drawn.min(Span::LONGEST))
    }
}

/// Queries that several flows answer together. The next begins when all answers are in.
#[derive(Debug, Default)]
pub struct Queries(BTreeMap<u32, Query>);

#[derive(Debug)]
struct Query {
    /// The flows that answer.
    flows: Vec<usize>,
    /// Number of answers that are not in.
    missing: usize,
    pauses: Pauses,
}

impl Queries {
    /// The queries of a run.
    #[must_use]
    pub fn new<'a>(flows: impl IntoIterator<Item = &'a Flow>, seed: u64) -> Self {
        let mut queries: BTreeMap<u32, Query> = BTreeMap::new();
        for (index, flow) in flows.into_iter().enumerate() {
            let Some((requests, number)) = query_of(flow) else { continue };
            let query = queries.entry(number).or_insert_with(|| {
                let random = Random::new(seed, QUERY_STREAMS + u64::from(number));
                let pauses = Pauses::new(requests, flow.start_ns, random);
                Query { flows: Vec::new(), missing: 0, pauses }
            });
            query.flows.push(index);
            query.missing += 1;
        }
        Self(queries)
    }

    /// Note an answer to a query at `now`. If it is the last, return the begin of the next query
    /// and the flows that answer it.
    pub fn answer(&mut self, number: u32, now: Time) -> Option<(Time, Vec<usize>)> {
        let query = self.0.get_mut(&number)?;
        query.missing -= 1;
        if query.missing > 0 {
            return None;
        }
        query.missing = query.flows.len();
        Some((query.pauses.next(now), query.flows.clone()))
    }
}

/// A flow's requests and the number of its query; none if it answers no query with others.
fn query_of(flow: &Flow) -> Option<(&Requests, u32)> {
    let Transport::Tcp(tcp) = &flow.transport else { return None };
    let Demand::Requests(requests) = &tcp.demand else { return None };
    requests.query.map(|number| (requests, number))
}

/// Check that flows with the same query have the same requests, start and path delays. In virtual
/// time, all of them must have reached the same time when the last answer is in.
///
/// # Errors
/// The flow at fault, and the problem.
pub(crate) fn check_queries(flows: &[Flow]) -> Result<(), (usize, String)> {
    let mut first: BTreeMap<u32, (usize, &Flow, &Requests)> = BTreeMap::new();
    for (index, flow) in flows.iter().enumerate() {
        let Some((requests, number)) = query_of(flow) else { continue };
        let &mut (other, as_flow, as_requests) =
            first.entry(number).or_insert((index, flow, requests));
        let way = |flow: &Flow| {
            let of = |route: &Route| {
                (route.delay, route.hops.iter().map(|hop| hop.delay).collect::<Vec<_>>())
            };
            (flow.start_ns, of(&flow.forward), of(&flow.reverse))
        };
        if way(flow) != way(as_flow) || requests != as_requests {
            let problem = format!("not as flow {other}, which answers the same queries");
            return Err((index, problem));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU64;

    fn requests(pause_ns: u64, random: bool, period_ns: u64) -> Requests {
        let bytes = NonZeroU64::new(1).unwrap();
        let period_ns = NonZeroU64::new(period_ns);
        Requests { bytes, pause_ns: Span(pause_ns), random, period_ns, query: Some(3) }
    }

    fn pauses(requests: &Requests) -> Pauses {
        Pauses::new(requests, Time(5), Random::new(1, 1))
    }

    #[test]
    fn a_request_begins_after_a_pause_or_at_the_next_multiple_of_the_period() {
        let mut after = pauses(&requests(7, false, 0));
        assert_eq!((after.next(Time(20)), after.next(Time(40))), (Time(27), Time(47)));
        let mut every = pauses(&requests(0, false, 10));
        let begins = [6, 15, 16, 94].map(|now| every.next(Time(now)).0);
        assert_eq!(begins, [15, 15, 25, 95]);
    }

    #[test]
    fn random_pauses_are_exponential() {
        let mut drawn = pauses(&requests(1_000_000, true, 0));
        let all: Vec<_> = (0..100_000).map(|_| drawn.next(Time(9)).0 as f64 - 9.0).collect();
        let mean = all.iter().sum::<f64>() / 1e5;
        // Four standard errors. A share 1/e of an exponential distribution exceeds the mean.
        assert!((mean / 1e6 - 1.0).abs() < 4.0 / 1e5f64.sqrt(), "{mean}");
        let longer = all.iter().filter(|&&pause| pause > 1e6).count() as f64 / 1e5;
        assert!((longer - 1.0 / std::f64::consts::E).abs() < 0.007, "{longer}");
    }

    #[test]
    fn a_query_waits_for_its_last_answer() {
        let query = Query { flows: vec![2, 4], missing: 2, pauses: pauses(&requests(7, false, 0)) };
        let mut queries = Queries([(3, query)].into());
        for now in [20, 60] {
            assert_eq!(queries.answer(3, Time(now)), None);
            assert_eq!(queries.answer(3, Time(now + 9)), Some((Time(now + 16), vec![2, 4])));
        }
    }
}
