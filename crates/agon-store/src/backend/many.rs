//! Many rows in one statement: the statement costs, not its rows.

use std::fmt::Write as _;

/// Upper limit on the rows of a statement.
const MOST: usize = 64;

/// Slices of as many rows as one statement takes, in order. Their lengths are powers of two, so that the database has few different
/// statements to plan.
pub fn slices<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let most = rows.len().min(MOST);
        let size = (most.checked_ilog2()).map_or(0, |log| 1 << log);
        let (slice, rest) = rows.split_at(size);
        rows = rest;
        (!slice.is_empty()).then_some(slice)
    })
}

/// The same for statements that may name a row twice, such as look-ups, updates and deletions: the remainder is one slice, filled up with
/// its last row.
pub fn padded<T>(rows: &[T]) -> impl Iterator<Item = Vec<&T>> {
    rows.chunks(MOST).map(|rows| {
        let last = rows.last().into_iter().cycle();
        rows.iter().chain(last).take(rows.len().next_power_of_two()).collect()
    })
}

/// `count` copies of `row`, in which each `@` becomes the next parameter from `first` on: `($1, $2), ($3, $4)`.
pub fn rows(count: usize, row: &str, first: usize) -> String {
    let mut text = String::with_capacity(count * (row.len() + 8));
    let mut parameter = first;
    for number in 0..count {
        if number > 0 {
            text.push_str(", ");
        }
        for sign in row.chars() {
            match sign {
                '@' => {
                    // Writing to a text never fails.
                    let _ = write!(text, "${parameter}");
                    parameter += 1;
                }
                sign => text.push(sign),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_numbered_on_and_slices_are_few_sizes() {
        assert_eq!(rows(2, "(@, 'x', @)", 3), "($3, 'x', $4), ($5, 'x', $6)");
        let all: Vec<usize> = (0..173).collect();
        let sizes: Vec<usize> = slices(&all).map(<[usize]>::len).collect();
        assert_eq!(sizes, [64, 64, 32, 8, 4, 1]);
        assert_eq!(slices(&all).flatten().copied().collect::<Vec<_>>(), all);
        assert_eq!(slices::<u8>(&[]).count(), 0);
        let sizes: Vec<usize> = padded(&all).map(|slice| slice.len()).collect();
        assert_eq!(sizes, [64, 64, 64], "45 would be 32, 8, 4 and 1");
        let mut said: Vec<usize> = padded(&all).flatten().copied().collect();
        said.dedup();
        assert_eq!(said, all);
        assert_eq!(padded::<u8>(&[]).count(), 0);
    }
}
