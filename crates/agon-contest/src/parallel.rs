//! The same work on many things, on all CPUs.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does this with each of the things, several at once, and returns what it gave, in their order.
///
/// # Panics
/// When the work does.
pub fn on_all_cpus<T: Send, R: Send>(things: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let at_once = thread::available_parallelism().map_or(1, usize::from).min(things.len());
    let left = Mutex::new(things.into_iter().enumerate());
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let worker =
            || std::iter::from_fn(next).map(|(place, thing)| (place, work(thing))).collect::<Vec<_>>();
        let threads: Vec<_> = (0..at_once).map(|_| scope.spawn(worker)).collect();
        let ended =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ended.flatten().collect()
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::on_all_cpus;

    #[test]
    fn results_come_in_the_order_of_the_things() {
        let things: Vec<u64> = (0..1000).collect();
        assert_eq!(
            on_all_cpus(things.clone(), |thing| thing * 2),
            things.iter().map(|n| n * 2).collect::<Vec<_>>()
        );
        assert!(on_all_cpus(Vec::<u64>::new(), |thing| thing).is_empty());
        let panics = std::panic::catch_unwind(|| on_all_cpus(vec![1, 2], |thing| assert_eq!(thing, 1)));
        assert!(panics.is_err(), "a panic is not lost");
    }
}
