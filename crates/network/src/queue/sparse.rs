//! A table by number that allocates only the parts in use.
//!
//! A host's interface may serve any of thousands of flows, or hash onto any of thousands of queues.
//! It actually serves one or two.

/// Number of entries that are allocated together.
const PAGE: usize = 4;

/// Entries by number. An entry has the default value until it is used.
#[derive(Clone, Debug)]
pub struct Sparse<T> {
    /// Number of the first allocated page.
    first: usize,
    pages: Vec<Option<Box<[T; PAGE]>>>,
    fresh: T,
}

impl<T: Copy> Sparse<T> {
    /// A table whose entries are all `fresh`.
    pub const fn new(fresh: T) -> Self {
        Self { first: 0, pages: Vec::new(), fresh }
    }

    /// Return the entry of a number.
    #[inline]
    pub fn entry(&mut self, number: usize) -> &mut T {
        let (page, place) = (number / PAGE, number % PAGE);
        // A page below the first wraps to a huge number, which is not allocated, either.
        let known = page.wrapping_sub(self.first);
        if !self.pages.get(known).is_some_and(Option::is_some) {
            self.make(page);
        }
        let page = self.pages[page - self.first].as_mut();
        &mut page.expect("a page that was made")[place]
    }

    /// All allocated entries, in order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.pages.iter().flatten().flat_map(|page| page.iter())
    }

    /// All allocated entries, in order of their numbers.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.pages.iter_mut().flatten().flat_map(|page| page.iter_mut())
    }

    #[cold]
    fn make(&mut self, page: usize) {
        if self.pages.is_empty() {
            self.first = page;
        }
        if page < self.first {
            self.pages.splice(..0, (page..self.first).map(|_| None));
            self.first = page;
        }
        let place = page - self.first;
        self.pages.resize(self.pages.len().max(place + 1), None);
        self.pages[place] = Some(Box::new([self.fresh; PAGE]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn behaves_as_a_table_and_makes_only_what_is_used(
            numbers in prop::collection::vec(0usize..1_000, 1..40),
        ) {
            let (mut sparse, mut whole) = (Sparse::new(7), vec![7; 1_000]);
            for &number in &numbers {
                *sparse.entry(number) += number;
                whole[number] += number;
                prop_assert_eq!(*sparse.entry(number), whole[number]);
            }
            let used = |number: &usize| numbers.iter().any(|it| it / PAGE == number / PAGE);
            let expected: Vec<_> = (0..1_000).filter(used).map(|number| whole[number]).collect();
            prop_assert_eq!(sparse.iter().copied().collect::<Vec<_>>(), expected.clone());
            prop_assert_eq!(sparse.iter_mut().map(|it| *it).collect::<Vec<_>>(), expected);
        }
    }
}
