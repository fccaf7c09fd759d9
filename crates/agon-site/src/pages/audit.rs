//! The audit log in sentences: who did what.

use agon_store::Event;

/// An entry as a sentence: its subject, and what that did or what became of it.
pub fn sentence(event: &Event) -> (String, String) {
    let (actor, object) = (event.actor.clone(), event.object.as_str());
    let worker = object.starts_with("worker ");
    let did = |what: String| (actor.clone(), what);
    let became = |what: &str| (object.to_owned(), what.to_owned());
    match event.verb.as_str() {
        "found" => became("was created"),
        "sign up" => did("signed up".to_owned()),
        "organise" => did("became an organiser".to_owned()),
        "enrol" => did(format!("created an account for {object}")),
        "withdraw" => did("deleted the account".to_owned()),
        "password" => did("set a new password".to_owned()),
        "recover" => did("set a new password with a recovery code".to_owned()),
        "recover by mail" => did("used a password link that was sent by mail".to_owned()),
        "mail link" => became("was sent a password link by mail"),
        "set mail" => did("changed the mail address of the account".to_owned()),
        "confirm mail" => did("confirmed the mail address of the account".to_owned()),
        "factor on" => did("turned the second factor on".to_owned()),
        "factor off" => did("turned the second factor off".to_owned()),
        "use code" => did("used a recovery code in the place of a second factor".to_owned()),
        "recovery codes" => did("made new recovery codes".to_owned()),
        "offer password" => did(format!("created a password link for {object}")),
        "invite" => did("made a new sign-up code".to_owned()),
        "give token" => did(format!("made a token for {object}")),
        "make team" => did(format!("created the team {object}")),
        "join team" => did(format!("joined {object}")),
        "leave team" => did(format!("left {object}")),
        "add" => did(format!("submitted {object}")),
        "try" => became("is in a trial"),
        "decline" => became("did not go live"),
        "promote" => became("went live"),
        "fail" => became("failed"),
        "pass" => became("passed its check match in the new image"),
        "give up check" => became("could not be checked in the new image"),
        "unseat" => became("left the ladder"),
        "return" => did(format!("made {object} live again")),
        "suspend" => became("was suspended"),
        "lift suspension" => did(format!("resumed {object}")),
        "play again" => did(format!("had {object} played again")),
        "disqualify" => did(format!("disqualified {object}")),
        "drop" => did(format!("took {object} out of the ratings")),
        "reinstate" => did(format!("reinstated {object}")),
        "pause" if actor == "server" => became("was paused"),
        "pause" => did(format!("paused the {object}")),
        "resume" => did(format!("resumed the {object}")),
        "drain" => did(format!("began to drain the {object}")),
        "announce" if event.detail.is_empty() => did("removed the announcement".to_owned()),
        "announce" => did("posted an announcement".to_owned()),
        "tell leader" => did(format!("told the webhook that {object} leads")),
        "freeze" => did(format!("closed {object}")),
        "set" => did("changed the settings".to_owned()),
        "export" if object == "failed" => did("asked for an export, which failed".to_owned()),
        "export" => did(format!("exported {object}")),
        "enlist" => did(format!("created the token of {object}")),
        "revoke" => did(format!("revoked the token of {object}")),
        "let play on" => did(format!("resumed {object}")),
        "doubt" => became("is in doubt"),
        "confirm" => did(format!("confirmed {object}")),
        "trust" => became("is trusted again"),
        "alarm" if worker => became("raised an alarm"),
        "alarm" => (format!("Alarm about {object}"), String::new()),
        "bury" => became("was abandoned"),
        verb => did(format!("{verb} {object}")),
    }
}

/// What is worth reading besides the sentence.
pub fn detail(event: &Event) -> Option<String> {
    let says_it = matches!(
        event.verb.as_str(),
        "add" | "password" | "organise" | "invite" | "recover" | "recovery codes"
    );
    let text: String = event.detail.chars().take(160).collect();
    (!text.is_empty() && !says_it).then_some(text)
}

#[cfg(test)]
mod tests {
    use agon_store::Time;

    use super::*;

    fn told([actor, verb, object, detail]: [&str; 4]) -> String {
        let [actor, verb, object, detail] = [actor, verb, object, detail].map(str::to_owned);
        let (subject, did) = sentence(&Event { id: 1, at: Time(0), actor, verb, object, detail });
        format!("{subject} {did}").trim().to_owned()
    }

    #[test]
    fn entries_are_sentences() {
        for (entry, expected) in [
            (["Olga", "organise", "Olga", "by the one-time link"], "Olga became an organiser"),
            (["Olga", "announce", "everybody", "Lunch."], "Olga posted an announcement"),
            (["Olga", "announce", "everybody", ""], "Olga removed the announcement"),
            (["server", "tell leader", "Ann", ""], "server told the webhook that Ann leads"),
            (["Olga", "offer password", "Pat", ""], "Olga created a password link for Pat"),
            (["Pat", "return", "Brute Forcers v4", ""], "Pat made Brute Forcers v4 live again"),
            (["ladder", "decline", "Brute Forcers v4", ""], "Brute Forcers v4 did not go live"),
            (["server", "pause", "worker hall-3", "slow"], "worker hall-3 was paused"),
            (["Olga", "pause", "contest", ""], "Olga paused the contest"),
            (["server", "alarm", "match 7 try 1", "worker hall-3: lies"], "Alarm about match 7 try 1"),
        ] {
            assert_eq!(told(entry), expected);
        }
    }

    /// A verb that the store or the site writes and nobody has a sentence for would be shown as it is.
    #[test]
    fn every_verb_has_its_sentence() {
        let found = |folder: &str| -> Vec<String> {
            let folder = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
            let files = std::fs::read_dir(folder).expect("sources").map(|file| file.expect("a file").path());
            let files = files.filter(|file| !file.ends_with("audit.rs"));
            let rust = files.filter(|file| file.extension().is_some_and(|kind| kind == "rs"));
            rust.map(|file| std::fs::read_to_string(file).expect("text")).collect()
        };
        let mut verbs = vec!["disqualify", "drop", "reinstate"];
        let (store, site) = (found("../agon-store/src/acts"), [found("src"), found("src/pages")].concat());
        for text in &store {
            // note(…, [actor, "verb", object, detail])
            let lists =
                text.split("note(").skip(1).filter_map(|call| call.split_once('[')?.1.split_once(']'));
            verbs.extend(
                lists.filter_map(|(list, _)| list.split(", ").nth(1)?.strip_prefix('"')?.strip_suffix('"')),
            );
        }
        for text in &site {
            // let (verb, object, …) = ("verb".to_owned(), …)
            let lets = text
                .split("let (verb, ")
                .skip(1)
                .filter_map(|after| after.split_once("= (\"")?.1.split_once('"'));
            verbs.extend(lets.map(|(verb, _)| verb));
        }
        assert!(
            verbs.len() > 30 && verbs.contains(&"offer password") && verbs.contains(&"bury"),
            "{verbs:?}"
        );
        for verb in verbs {
            assert_ne!(
                told(["Ann", verb, "Bob", "x"]),
                format!("Ann {verb} Bob"),
                "a sentence for `{verb}` is missing"
            );
        }
    }
}
