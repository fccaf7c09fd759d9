//! Each rule of each game is found: its text, the item that decides it, the section that proves it.

use agon_rulebook::{explain, rules};

#[test]
fn every_rule_names_its_function_and_its_spec_section() {
    let mut all = 0;
    for game in agon_games::all() {
        let info = game.info();
        agon_rulebook::check(info);
        for rule in rules(info.rulebook) {
            let found = explain(info, &rule.id).expect("a rule of this rulebook");
            assert!(rule.text.len() > 15, "{} has no text: {:?}", rule.id, rule.text);
            assert!(found.decided.iter().all(|place| !place.item.is_empty()), "{found:?}");
            all += 1;
        }
    }
    assert!(all >= 360, "{all} rules");
}
