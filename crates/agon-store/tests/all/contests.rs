//! A store with two contests: each reads its own.

use agon_store::acts::{FoundContest, PlanBlocks};
use agon_store::{Kind, Objects, Store, StoreError, Time};

use crate::common::{folder, founded};

#[tokio::test]
async fn nothing_of_one_contest_is_read_in_another() {
    let place = folder();
    let store = Store::open(place.path()).await.expect("opened");
    assert!(store.only().await.expect("read").is_none(), "there is none yet");
    let (one, versions) = founded(&store, &["a", "b"], Time(1)).await;
    let only = store.named("another title").await.expect("read").expect("the only one");
    assert_eq!(only.id(), one);

    let found = FoundContest {
        name: "second".into(),
        game: "g".into(),
        terms: "{}".into(),
        secret: "s".into(),
        now: Time(2),
    };
    let second = store.act(found).await.expect("founded");
    let plan = PlanBlocks {
        contest: one,
        kind: Kind::Ladder,
        blocks: vec![(0, versions)],
        rotations: 2,
        now: Time(3),
    };
    store.act(plan).await.expect("planned");
    let (one, other) = (store.of(one), store.named("second").await.expect("read").expect("by its name"));
    assert_eq!((other.id(), other.now().await.expect("read").name.as_str()), (second, "second"));
    assert_eq!(
        (one.counts().await.expect("read").planned, other.counts().await.expect("read").planned),
        (2, 0)
    );
    assert_eq!((one.waiting(9).await.expect("read"), other.waiting(9).await.expect("read")), (2, 0));
    assert_eq!(one.versions().await.expect("read").len(), 2);
    assert!(
        other.players().await.expect("read").is_empty() && other.entrants().await.expect("read").is_empty()
    );
    assert_eq!(other.events(9).await.expect("read").len(), 1, "its founding");

    // Who opens a folder without saying which contest is told, and not given the first.
    assert!(matches!(store.only().await, Err(StoreError::Wrong(why)) if why.contains("test, second")));
    assert!(store.named("third").await.is_err());
    let found = store.fsck(&Objects::open(place.path()).expect("a place")).await.expect("read");
    assert_eq!(
        found.iter().filter(|finding| finding.rule != "every object is there and unchanged").count(),
        0
    );
}
