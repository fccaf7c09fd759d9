//! What must hold for any bytes a stranger hands to the game. Used by the ordinary tests, which run the
//! corpora, and by the fuzz targets in `fuzz/`.

use agon_game::conform::{ConformReport, Recognised};
use agon_game::{
    Answer, Dialect as _, Game as _, Heard, Ignored, RulesChoice, Seat, Seeded, Setup, Unreadable,
};
use terminal::Terminal;
use terminal::dialect::Wire;
use terminal::orders::Commands;
use terminal::work::Work;

/// A match with the configuration `text`.
fn game_of(text: String) -> Result<Terminal, String> {
    let rules = RulesChoice { file: Some(("file".to_owned(), text)), ..RulesChoice::default() };
    let setup = Setup { rules, seats: 2, ..Setup::default() };
    Terminal::set_up(&setup).map_err(|error| error.to_string())
}

/// Plays one turn in which both players give the same answer.
fn play_once(game: &Terminal, order: &Commands) {
    let (mut state, mut work, mut chance) = (game.start(), Work::default(), Seeded::stream(1, "hostile"));
    let answers = [0, 1].map(|seat| (Seat::new(seat), Answer::Given { order: order.clone(), think_ms: 1 }));
    if !game.deciding(&state).is_empty() {
        game.play(&mut state, &mut work, &answers, &mut chance, &mut Ignored);
    }
    let mut saved = Vec::new();
    game.save(&state, &mut saved);
    assert_eq!(game.load(&saved).as_ref(), Some(&state), "a state that was reached can be loaded");
}

/// A configuration is refused with one line, or it can be played and written back.
pub fn config(bytes: &[u8]) {
    match game_of(String::from_utf8_lossy(bytes).into_owned()) {
        Err(why) => assert!(!why.is_empty() && why.len() < 20_000, "a message for people: {why}"),
        Ok(game) => {
            let twin = game_of(game.config_line().to_owned()).expect("its own line is a configuration");
            assert_eq!(twin.rules(), game.rules());
            assert_eq!(twin.config_line(), game.config_line());
            let mut chance = Seeded::stream(7, "hostile");
            let order = game.random_order(&game.start(), Seat::new(0), &mut chance);
            play_once(&game, &order);
        }
    }
}

/// Lines of a bot: whatever they are, an answer once heard survives being written, packed and played again unchanged.
pub fn answer(bytes: &[u8]) {
    let game = Terminal::set_up(&Setup { seats: 2, ..Setup::default() }).expect("the default setup");
    let mut wire = Wire::new(&game);
    let mut question = Vec::new();
    for seat in Seat::first(2) {
        wire.ask(&game, seat, &game.view(&game.start(), seat), &mut question);
        for line in bytes.split(|&byte| byte == b'\n') {
            let Heard::Answer(order) = wire.hear(&game, seat, line) else { continue };
            let mut said = Vec::new();
            wire.say(&game, seat, &order, &mut said);
            let mut lines = said.split(|&byte| byte == b'\n');
            let first = wire.hear(&game, seat, lines.next().expect("two lines"));
            assert_eq!(first, Heard::More);
            let again = wire.hear(&game, seat, lines.next().expect("two lines"));
            assert_eq!(again, Heard::Answer(order.clone()), "{}", String::from_utf8_lossy(&said));
            let mut packed = Vec::new();
            game.pack(&order, &mut packed);
            assert_eq!(game.unpack(&packed).as_ref(), Some(&order));
            play_once(&game, &order);
        }
    }
    if let Some(order) = game.unpack(bytes) {
        play_once(&game, &order);
    }
}

/// Bytes given as a replay of the original are something else, damaged, or a match that can be played.
pub fn replay(bytes: &[u8]) {
    let mut report = ConformReport::default();
    let recognised = Terminal::conform(bytes, &mut report);
    let import = match Terminal::import(bytes) {
        Err(Unreadable::Foreign) => return assert_eq!(recognised, Recognised::Foreign),
        Err(Unreadable::Damaged(why)) => {
            assert!(matches!(recognised, Recognised::Damaged(_)), "{why}");
            return;
        }
        Ok(import) => import,
    };
    let Ok(game) = Terminal::set_up(&import.setup) else { panic!("import refuses what cannot be set up") };
    let (mut state, mut work, mut chance) = (game.start(), Work::default(), Seeded::stream(1, "hostile"));
    for answers in import.steps.iter().take(20) {
        if game.deciding(&state).is_empty() {
            break;
        }
        game.play(&mut state, &mut work, answers, &mut chance, &mut Ignored);
    }
}
