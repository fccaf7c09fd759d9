//! Many results at once, and machines that wait for work.

use crate::common::hall::{Worker, alarms, clean, line, play, read, world};
use agon_store::Time;
use agon_store::acts::Pause;
use agon_worker::wire::{LeaseRequest, PostedResult as Sent, ReceivedAll};
use agon_worker::{Granted, Posted, Try, Whole};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_that_come_at_once_are_each_as_if_it_came_alone() {
    let world = world().await;
    let (mut honest, mut liar) = (Worker::new(&world, "honest").await, Worker::new(&world, "liar").await);
    let granted = honest.lease(8).await;
    let whole: Vec<(Try, Whole)> = granted.jobs.iter().map(|job| (job.attempt, play(&world, job))).collect();
    let all = whole.iter().map(|(attempt, whole)| line(*attempt, whole)).collect::<Vec<_>>();
    let send = |lines: &[&Sent], replays: &[&[u8]]| {
        Sent::with_all(lines.iter().copied().zip(replays.iter().copied())).expect("plain data")
    };
    let replay = |n: usize| &whole[n].1.replay[..];
    // Results of another worker's matches are refused, and spoil nothing.
    let sent = send(&[&all[0], &all[1]], &[replay(0), replay(1)]);
    let refused: ReceivedAll = read(&liar.post("/results", &sent).await);
    assert_eq!(refused.posted, [Posted::Refused; 2]);
    // Good ones, one sent twice, a different one under the same name, one for a match that does not exist.
    let mut other = all[1].clone();
    other.observed.wall_us += 1;
    let nowhere = Sent { attempt: Try { game: 999_999, n: 1 }, ..all[0].clone() };
    let sent = send(
        &[&all[0], &all[1], &all[0], &other, &nowhere, &all[2]],
        &[replay(0), replay(1), replay(0), replay(1), replay(0), replay(2)],
    );
    let answer: ReceivedAll = read(&honest.post("/results", &sent).await);
    use Posted::{Kept, Refused};
    assert_eq!(answer.posted, [Kept, Kept, Kept, Refused, Refused, Kept]);
    let told = alarms(&world).await;
    assert_eq!(told.len(), 3, "{told:?}");
    // Two of somebody else's matches; one contradiction, and one match that does not exist. The hashes of a contradiction may
    // begin with anything, so their order says nothing.
    let says = |start: &str, more: &str| {
        told.iter().filter(|alarm| alarm.contains(start) && alarm.contains(more)).count()
    };
    let never = "results of matches that it was never";
    assert_eq!(says("worker honest: posted 1 ", never), 1, "{told:?}");
    assert_eq!(says("worker honest: posted", " and then "), 1, "{told:?}");
    assert_eq!(says("worker liar: posted 2 ", never), 1, "{told:?}");
    // The answer was lost: the same batch again, and each alone, as earlier workers send them.
    let sent = send(&[&all[0], &all[1], &all[2], &all[3]], &[replay(0), replay(1), replay(2), replay(3)]);
    for _ in 0..2 {
        let again: ReceivedAll = read(&honest.post("/results", &sent).await);
        assert_eq!(again.posted, [Kept; 4]);
    }
    assert_eq!(honest.result(whole[3].0, &whole[3].1).await, Kept);
    assert_eq!(honest.result(whole[4].0, &whole[4].1).await, Kept);
    assert_eq!(world.server.tick(world.now()).await.expect("done").valid, 5);
    // A lie is found when it is recomputed, and harms no other result.
    let granted = liar.lease(8).await;
    let good = play(&world, &granted.jobs[0]);
    let bad = Whole { replay: b"nothing".to_vec(), ..good.clone() };
    let lines = [line(whole[5].0, &whole[5].1), line(granted.jobs[0].attempt, &bad)];
    let sent = send(&[&lines[1]], &[&bad.replay]);
    assert_eq!(read::<ReceivedAll>(&liar.post("/results", &sent).await).posted, [Kept]);
    let sent = send(&[&lines[0]], &[replay(5)]);
    assert_eq!(read::<ReceivedAll>(&honest.post("/results", &sent).await).posted, [Kept]);
    let ticked = world.server.tick(world.now()).await.expect("done");
    assert_eq!((ticked.valid, ticked.mismatches), (1, 1));
    // If a request cannot be read whole, nothing of it is taken.
    let sent = send(&[&all[0], &all[1]], &[replay(0), replay(1)]);
    for (wrong, status) in [
        (sent[..sent.len() - 1].to_vec(), 422),
        ([&sent[..], b"{}\n"].concat(), 422),
        (Vec::new(), 422),
        (sent.repeat(17), 422),
        (vec![b' '; (20 << 20) + 1], 413),
    ] {
        assert_eq!(honest.post("/results", &wrong).await.status, status);
    }
    clean(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_waits_hears_of_work_and_of_the_end() {
    let mut world = world().await;
    let contest = world.server.contest();
    let pause = |paused| Pause { contest, paused, actor: "Boss".into(), now: Time(0) };
    assert!(world.server.store().act(pause(true)).await.expect("answered"));
    let mut waiting = Vec::new();
    let wait = |number: usize, wait_ms: u64| LeaseRequest { request: format!("w{number}"), most: 1, wait_ms };
    let mut one = Worker::new(&world, "one").await;
    assert_eq!(read::<Granted>(&one.tell("/lease", &wait(0, 300)).await), Granted::default());
    for number in 0..4 {
        let mut worker = Worker::new(&world, &format!("hall {number}")).await;
        let wanted = wait(number, u64::MAX);
        waiting.push(tokio::spawn(async move { worker.tell("/lease", &wanted).await }));
    }
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(waiting.iter().all(|waiting| !waiting.is_finished()), "there is nothing to play yet");
    assert!(world.server.store().act(pause(false)).await.expect("answered"));
    for waiting in waiting {
        let granted: Granted = read(&waiting.await.expect("answered"));
        assert_eq!(granted.jobs.len(), 1);
    }
    // A server that stops releases those who wait.
    assert!(world.server.store().act(pause(true)).await.expect("answered"));
    let wanted = wait(9, u64::MAX);
    let waiting = tokio::spawn(async move { one.tell("/lease", &wanted).await });
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    world.stop().await;
    assert_eq!(read::<Granted>(&waiting.await.expect("answered")), Granted::default());
}
