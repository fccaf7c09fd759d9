//! Browsers in which somebody signed in before. They are let through where wrong passwords of others hold a name up, with a
//! bound of their own.
//!
//! A cookie says so for 90 days. It is signed with the hash of the account's password: so it is worth nothing once that is
//! changed, every server of the contest knows it, and nothing is stored. It opens nothing by itself.

use agon_store::{Account, AccountId, Time};
use axum::http::HeaderMap;
use axum::response::AppendHeaders;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::who::{SetCookie, cookie_name, keep, kept};
use crate::secrets;
use crate::site::Site;

/// How long a browser is known, in milliseconds.
const KNOWN: i64 = 90 * 86_400_000;
/// How many accounts a browser is known for: people share computers.
const ACCOUNTS: usize = 5;
/// The longest line for an account.
const LONGEST: usize = 120;

/// A browser in which the account signed in before, by a name of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device(String);

impl Device {
    pub fn id(&self) -> &str {
        &self.0
    }

    /// The browser with this name.
    #[cfg(test)]
    pub fn with_id(id: &str) -> Self {
        Self(id.to_owned())
    }

    /// The browser that is asking, if the account signed in there before.
    pub fn known(site: &Site, headers: &HeaderMap, account: &Account, now: Time) -> Option<Self> {
        let kept = kept(headers, &name(site, headers))?;
        kept.split('~').take(ACCOUNTS).find_map(|line| read(line, account, now))
    }

    /// The cookie by which the browser is known from now on.
    pub fn remembered(site: &Site, headers: &HeaderMap, account: &Account, now: Time) -> SetCookie {
        let Some(line) = line(account, &URL_SAFE_NO_PAD.encode(secrets::random::<12>()), now.plus(KNOWN))
        else {
            return AppendHeaders(None);
        };
        let (name, own) = (name(site, headers), format!("{}.", account.id));
        let kept = kept(headers, &name).unwrap_or_default();
        let is_line = |line: &&str| {
            let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || b"._-".contains(&sign);
            !line.is_empty() && line.len() <= LONGEST && line.bytes().all(is_sign) && !line.starts_with(&own)
        };
        let others = kept.split('~').filter(is_line).take(ACCOUNTS - 1);
        let value = std::iter::once(line.as_str()).chain(others).collect::<Vec<_>>().join("~");
        keep(site, &name, &value, KNOWN / 1000)
    }
}

fn name(site: &Site, headers: &HeaderMap) -> String {
    format!("{}-known", cookie_name(site, headers))
}

/// `account.ends.device.signature`; none for an account that nobody can sign in to.
fn line(account: &Account, device: &str, ends: Time) -> Option<String> {
    let signature = signature(account.password.as_deref()?, account.id, device, ends);
    Some(format!("{}.{}.{device}.{signature}", account.id, ends.0))
}

fn read(text: &str, account: &Account, now: Time) -> Option<Device> {
    let (_, rest) = text.split_once('.')?;
    let (ends, rest) = rest.split_once('.')?;
    let (device, _) = rest.split_once('.')?;
    let ends = Time(ends.parse().ok()?);
    let meant = line(account, device, ends)?;
    (ends > now && secrets::same(text, &meant)).then(|| Device(device.to_owned()))
}

fn signature(password: &str, account: AccountId, device: &str, ends: Time) -> String {
    secrets::signed(password, &format!("agon known browser\n{account}\n{device}\n{}", ends.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_worth_something_for_one_account_and_one_password_and_ninety_days() {
        let account = |id, password: &str| Account {
            id: AccountId(id),
            name: "Ann".into(),
            password: Some(password.into()),
            organiser: false,
            made: Time(0),
            withdrawn: None,
            mail: None,
            confirmed: None,
        };
        let (ann, ends) = (account(1, "$hash"), Time(KNOWN));
        let own = line(&ann, "device", ends).expect("she has a password");
        assert!(own.len() <= LONGEST, "{own}");
        assert_eq!(read(&own, &ann, Time(KNOWN - 1)), Some(Device("device".into())));
        assert_eq!(read(&own, &ann, ends), None);
        assert_eq!(read(&own, &account(1, "$other"), Time(1)), None, "after another password");
        assert_eq!(read(&own, &account(2, "$hash"), Time(1)), None);
        for wrong in [
            own.replace("device", "another"),
            own.replacen(&KNOWN.to_string(), &(KNOWN + 1).to_string(), 1),
            own.replacen("1.", "01.", 1),
            own[..own.len() - 1].to_owned(),
            String::new(),
            "...".to_owned(),
        ] {
            assert_eq!(read(&wrong, &ann, Time(1)), None, "{wrong}");
        }
        let nobody = Account { password: None, ..ann.clone() };
        assert_eq!((line(&nobody, "device", ends), read(&own, &nobody, Time(1))), (None, None));
    }
}
