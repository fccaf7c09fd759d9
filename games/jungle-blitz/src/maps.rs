//! The maps built into the program: three sizes in three tiers.

use agon_game::BundledMap;

macro_rules! bundled {
    ($($name:literal)*) => {
        &[$(BundledMap { name: $name, seats: (1, 4), text: include_str!(concat!("../maps/", $name, ".txt")) }),*]
    };
}

/// All of them. `easy` ones are open, `inter` ones have corners, `adv` ones have chokepoints.
pub const BUNDLED: &[BundledMap] = bundled! {
    "easy-clearing" "easy-glade" "easy-pond"
    "inter-riverbend" "inter-stream" "inter-hollow"
    "adv-temple" "adv-gorge" "adv-maze"
};
