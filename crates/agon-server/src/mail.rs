//! Mail, sent by a program of the organiser's: Agon speaks no SMTP.
//!
//! The program gets the whole message on its standard input, as `sendmail -t` takes it, and recipient and subject also as `AGON_TO` and
//! `AGON_SUBJECT`, for a script that sends in another way. It is started without a shell and with none of these among its arguments, so
//! nothing that a visitor has typed is ever part of a command.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use agon_bot::{rights, sys};
use agon_store::Time;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use rustix::process::Pid;

/// How long the program may take.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// The longest address that mail servers know (RFC 5321), in bytes.
const LONGEST: usize = 254;
/// The longest part of it before the `@`, and the longest part of a name of a host.
const LONGEST_PART: usize = 64;
/// What may stand before the `@` besides letters and digits: of what the standard allows, what no shell takes for something else.
const SIGNS: &[u8] = b".!#%&'*+/=?^_~-";
/// How many bytes of a subject are written as one word; longer ones would make a line too long.
const SUBJECT_WORD: usize = 42;

/// A mail address: ASCII, one `@`, no blanks or control characters, and no option of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailAddress(String);

impl MailAddress {
    /// The address that somebody has typed.
    ///
    /// # Errors
    /// A sentence that says it is none.
    pub fn of(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.split_once('@') {
            Some((name, host)) if text.len() <= LONGEST && is_name(name) && is_host(host) => {
                Ok(Self(text.to_owned()))
            }
            _ => Err("That is not a mail address: write it like ada@school.example.".to_owned()),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_name(name: &str) -> bool {
    let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || SIGNS.contains(&sign);
    (1..=LONGEST_PART).contains(&name.len())
        && name.bytes().all(is_sign)
        && !name.starts_with(['-', '.'])
        && !name.ends_with('.')
        && !name.contains("..")
}

/// Whether this can be the name of a host or a domain.
pub fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        (1..LONGEST_PART).contains(&label.len())
            && label.bytes().all(|sign| sign.is_ascii_alphanumeric() || sign == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    host.len() <= LONGEST && host.split('.').all(is_label)
}

/// A message.
#[derive(Clone, Debug)]
pub struct MailMessage {
    pub to: MailAddress,
    /// One line.
    pub subject: String,
    pub text: String,
    pub at: Time,
}

impl MailMessage {
    /// The whole message, as it goes to the program. It has no `From`: that is the organiser's, whose program adds it.
    fn whole(&self) -> String {
        let mut message = format!("To: {}\nSubject: {}\n", self.to.as_str(), encoded(&line(&self.subject)));
        let at = Timestamp::from_millisecond(self.at.0).unwrap_or(Timestamp::UNIX_EPOCH);
        if let Ok(date) = jiff::fmt::rfc2822::to_string(&at.to_zoned(jiff::tz::TimeZone::UTC)) {
            let _ = writeln!(message, "Date: {date}");
        }
        message += "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\
                    Auto-Submitted: auto-generated\n\n";
        message + self.text.trim_end() + "\n"
    }
}

/// A text as one line.
fn line(text: &str) -> String {
    text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect()
}

/// A subject as headers hold it (RFC 2047).
fn encoded(text: &str) -> String {
    if text.is_ascii() && !text.contains("=?") {
        return text.to_owned();
    }
    let mut words = vec![String::new()];
    for sign in text.chars() {
        match words.last_mut() {
            Some(word) if word.len() + sign.len_utf8() <= SUBJECT_WORD => word.push(sign),
            _ => words.push(sign.to_string()),
        }
    }
    let words = words.iter().map(|word| format!("=?UTF-8?B?{}?=", STANDARD.encode(word)));
    words.collect::<Vec<_>>().join("\n ")
}

/// Has a program send a message, and waits for it. It is ended, with what it started, when it takes longer than `patience`.
///
/// # Errors
/// Why it could not be sent, without the address. What the program writes is not kept, for it may name the address.
pub fn send(program: &[String], message: &MailMessage, patience: Duration) -> Result<(), String> {
    let [name, arguments @ ..] = program else { return Err("there is no program".to_owned()) };
    let mut command = Command::new(name);
    command.args(arguments).env("AGON_TO", message.to.as_str()).env("AGON_SUBJECT", line(&message.subject));
    command
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    rights::restore(&mut command);
    let failed = |error: io::Error| format!("`{name}` cannot be started: {error}");
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // Smaller than a pipe, so this waits for nobody. A program that does not read it says by its end whether that was meant.
        let _ = stdin.write_all(message.whole().as_bytes());
    }
    match ended(&mut child, patience) {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => Err(format!("`{name}` failed: {status}")),
        Ok(None) => Err(format!("`{name}` took longer than {} s and was ended", patience.as_secs_f64())),
        Err(error) => Err(format!("`{name}`: {error}")),
    }
}

/// How a child ended; none if it had to be ended.
fn ended(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let pid = Pid::from_child(child);
    let in_time = sys::wait(pid, patience);
    if !in_time {
        sys::kill_group(pid);
    }
    let status = child.wait()?;
    Ok(in_time.then_some(status))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Instant;

    use super::*;

    fn message(subject: &str) -> MailMessage {
        let to = MailAddress::of("ada@school.example").expect("an address");
        MailMessage {
            to,
            subject: subject.into(),
            text: "Grüße\n\nhttps://cup.example/x\n".into(),
            at: Time(0),
        }
    }

    fn script(text: &str) -> Vec<String> {
        ["sh", "-c", text].map(str::to_owned).into()
    }

    #[test]
    fn addresses_are_read_strictly() {
        let long = format!("{}@school.example", "a".repeat(64));
        for good in ["ada@school.example", "A.d+a_1@x.y.z", "o'brien@school.example", "root@localhost", &long]
        {
            assert_eq!(MailAddress::of(good).map(|found| found.0), Ok(good.to_owned()));
        }
        assert_eq!(MailAddress::of(" ada@x.y\n").map(|found| found.0), Ok("ada@x.y".to_owned()), "as pasted");
        for bad in [
            "",
            "@",
            "ada",
            "ada@",
            "@x.y",
            "ada@@x.y",
            "a@b@x.y",
            "ada@x..y",
            "ada@-x.y",
            "ada@x.y.",
            "-oQ/tmp@x.y",
            "ada@x.y\nBcc: eve@x.y",
            "ada@x.y\r\nBcc:eve@x.y",
            "ada\0@x.y",
            "a da@x.y",
            "ada@x y",
            "<ada@x.y>",
            "ada@x.y,eve@x.y",
            "Ada <ada@x.y>",
            "\"a b\"@x.y",
            "$(id)@x.y",
            "`id`@x.y",
            "a|b@x.y",
            "a;b@x.y",
            "ä@x.y",
            "ada@schöl.example",
            &format!("a{long}"),
            &format!("ada@{}", "x.".repeat(130)),
        ] {
            assert!(MailAddress::of(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_message_is_headers_a_blank_line_and_the_text_whatever_a_contest_is_called() {
        let whole = message("Autumn Cup: a new password").whole();
        let expected = "To: ada@school.example\nSubject: Autumn Cup: a new password\nDate: Thu, 1 Jan 1970 00:00:00 +0000\n\
                        MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\
                        Auto-Submitted: auto-generated\n\nGrüße\n\nhttps://cup.example/x\n";
        assert_eq!(whole, expected);
        let subject = |text: &str| {
            let whole = message(text).whole();
            let (head, _) = whole.split_once("\n\n").expect("a blank line");
            let (_, after) = head.split_once("Subject: ").expect("a subject");
            after.split_once("\nDate").expect("more").0.to_owned()
        };
        assert_eq!(subject("Cup\r\nBcc: eve@x.y"), "Cup  Bcc: eve@x.y", "one line");
        assert_eq!(subject("=?x"), "=?UTF-8?B?PT94?=");
        let long = subject(&"Grüße ".repeat(20));
        assert!(long.lines().all(|line| line.len() <= 76) && long.lines().count() > 2, "{long}");
        let words = long.split("\n ").map(|word| {
            let word =
                word.strip_prefix("=?UTF-8?B?").and_then(|word| word.strip_suffix("?=")).expect("a word");
            String::from_utf8(STANDARD.decode(word).expect("base64")).expect("whole characters")
        });
        assert_eq!(words.collect::<String>(), "Grüße ".repeat(20));
    }

    #[test]
    fn a_program_reads_the_message_or_the_environment() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().display();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("written");
        // As `sendmail -t` does: all from the message.
        let whole = script(&format!("cat > {place}/whole"));
        assert_eq!(send(&whole, &message("Cüp"), PATIENCE), Ok(()));
        assert_eq!(read("whole"), message("Cüp").whole());
        // The other form. Nothing of the message is among its arguments.
        let other =
            script(&format!("printf '%s|%s|%s' \"$AGON_TO\" \"$AGON_SUBJECT\" \"$#\" > {place}/other"));
        assert_eq!(send(&other, &message("Cüp"), PATIENCE), Ok(()));
        assert_eq!(read("other"), "ada@school.example|Cüp|0");
        if Command::new("python3").arg("--version").output().is_err() {
            eprintln!("SKIPPED: python3 is not installed");
            return;
        }
        // The script of docs/contest.md, but for the last line.
        let file = folder.path().join("send.py");
        let text = format!(
            "import email, email.policy, sys\n\
             message = email.message_from_binary_file(sys.stdin.buffer, policy=email.policy.default)\n\
             message['From'] = 'Autumn Cup <cup@school.example>'\n\
             open('{place}/python', 'w').write('|'.join([message['To'], message['Subject'], message.get_content()]))\n\
             open('{place}/again', 'wb').write(message.as_bytes())\n"
        );
        fs::write(&file, text).expect("written");
        let python = ["python3".to_owned(), file.display().to_string()];
        assert_eq!(send(&python, &message("Cüp"), PATIENCE), Ok(()));
        assert_eq!(read("python"), "ada@school.example|Cüp|Grüße\n\nhttps://cup.example/x\n");
        assert!(read("again").contains("From: Autumn Cup <cup@school.example>"));
    }

    #[test]
    fn a_program_that_fails_hangs_or_is_missing_is_named_without_the_address() {
        let why = |program: &[String]| {
            let why = send(program, &message("Cup"), Duration::from_secs(3)).expect_err("not sent");
            assert!(!why.contains("ada") && !why.contains("school"), "{why}");
            why
        };
        assert_eq!(why(&script("echo $AGON_TO >&2; exit 75")), "`sh` failed: exit status: 75");
        assert_eq!(why(&script("kill -9 $$")), "`sh` failed: signal: 9 (SIGKILL)");
        let missing = why(&["/nowhere/send".to_owned()]);
        assert!(missing.starts_with("`/nowhere/send` cannot be started: No such file"), "{missing}");
        assert_eq!(why(&[]), "there is no program");
        // What it started ends with it.
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("child");
        let hangs = script(&format!("sleep 1000 & echo $! > {}; wait", file.display()));
        assert_eq!(why(&hangs), "`sh` took longer than 3 s and was ended");
        let child = fs::read_to_string(&file).expect("it was started");
        let status = Path::new("/proc").join(child.trim()).join("stat");
        let is_gone = || fs::read_to_string(&status).map_or(true, |stat| stat.contains(") Z"));
        let until = Instant::now() + Duration::from_secs(30);
        while !is_gone() && Instant::now() < until {
            std::thread::yield_now();
        }
        assert!(is_gone(), "{}", status.display());
    }
}
