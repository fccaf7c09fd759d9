//! The client modules that bots of the events import, built into the program.

use agon_game::{Kit, TcpKit};

use crate::rules::{Message, Rules};

/// The modules of `$year`, as `(file name, text)`.
macro_rules! modules {
    ($year:literal) => {
        &[
            ("client_runner.py", include_str!(concat!("../../client/", $year, "/client_runner.py"))),
            ("controller.py", include_str!(concat!("../../client/", $year, "/controller.py"))),
            ("helper_classes.py", include_str!(concat!("../../client/", $year, "/helper_classes.py"))),
            ("move.py", include_str!(concat!("../../client/", $year, "/move.py"))),
        ]
    };
}

/// The kit for the messages of these rules; the document uses the form of 2019.
pub fn kit(rules: &Rules) -> Kit {
    let (client, files): (_, &[(&str, &str)]) = match rules.message {
        Message::Document | Message::Neo2019 => ("deerhunt-2019", modules!("2019")),
        Message::Bc2021 => ("deerhunt-2021", modules!("2021")),
    };
    let connect_ms = rules.connect_timeout_ms;
    Kit::Tcp(TcpKit { connect_ms, module: "grid_player.py", client, files, runner: "client_runner" })
}
