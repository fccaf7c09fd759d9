//! Codes of an app that proves who signs in: TOTP (RFC 6238) as all apps know it, with SHA-1, 30 seconds and six digits.

use agon_store::Time;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;

use crate::secrets;

/// The letters in which apps take a secret (RFC 4648).
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/// How long a code is shown, in milliseconds.
const STEP: i64 = 30_000;
/// How many digits a code has.
const DIGITS: usize = 6;
/// How far a clock may be off, in steps.
const NEAR: i64 = 1;

/// The secret that an app and the site share.
#[derive(Clone, PartialEq, Eq)]
pub struct TotpSecret([u8; 20]);

impl TotpSecret {
    pub fn fresh() -> Self {
        Self(secrets::random())
    }

    /// A secret as it is kept.
    pub fn of(kept: &str) -> Option<Self> {
        URL_SAFE_NO_PAD.decode(kept).ok()?.try_into().ok().map(Self)
    }

    /// As it is kept.
    pub fn kept(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// As people type it into an app: 32 letters and digits.
    pub fn shown(&self) -> String {
        let eight = |five: &[u8]| {
            let bits = five.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
            (0..8).rev().map(move |at| char::from(BASE32[(bits >> (5 * at)) as usize & 31]))
        };
        self.0.chunks(5).flat_map(eight).collect()
    }

    /// The address that an app opens, for this name at this contest.
    pub fn address(&self, title: &str, name: &str) -> String {
        let mut url = url::Url::parse("otpauth://totp/").expect("an address");
        // A colon separates the two.
        url.set_path(&format!("{}:{name}", title.replace(':', " ")));
        url.query_pairs_mut().append_pair("secret", &self.shown()).append_pair("issuer", title);
        // Apps read `+` as it stands.
        let (path, query) = url.as_str().split_once('?').expect("it has two pairs");
        format!("{path}?{}", query.replace('+', "%20"))
    }

    /// The code of a step.
    pub fn code(&self, step: i64) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.0);
        let tag = hmac::sign(&key, &step.to_be_bytes());
        let from = usize::from(tag.as_ref()[19] & 15);
        let number =
            tag.as_ref()[from..from + 4].iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        format!("{:0DIGITS$}", (number & 0x7fff_ffff) % 1_000_000)
    }

    /// The step of which this is the code, at about this time.
    pub fn step_of(&self, typed: &str, now: Time) -> Option<i64> {
        let typed: String = typed.chars().filter(char::is_ascii_digit).take(DIGITS + 1).collect();
        let at = now.0.div_euclid(STEP);
        // All are compared, whichever it is.
        let found = (at - NEAR..=at + NEAR).map(|step| (step, secrets::same(&self.code(step), &typed)));
        found.fold(None, |found, (step, is_it)| if is_it { Some(step) } else { found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> TotpSecret {
        TotpSecret(*b"12345678901234567890")
    }

    /// The table at the end of RFC 6238, of whose eight digits the last six are ours.
    #[test]
    fn codes_are_those_of_the_standard() {
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            let (secret, now) = (secret(), Time(seconds * 1000));
            assert_eq!(secret.code(seconds / 30), code);
            assert_eq!(secret.step_of(code, now), Some(seconds / 30));
            let spaced = format!(" {} {} ", &code[..3], &code[3..]);
            assert_eq!(secret.step_of(&spaced, now), Some(seconds / 30), "as apps show it");
            assert_eq!(secret.step_of(&format!("{code}0"), now), None);
        }
    }

    #[test]
    fn a_clock_may_be_off_by_a_step() {
        let (secret, now) = (secret(), Time(100 * STEP));
        for (step, found) in [(98, None), (99, Some(99)), (100, Some(100)), (101, Some(101)), (102, None)] {
            assert_eq!(secret.step_of(&secret.code(step), now), found);
        }
        for wrong in ["", "12345", "000000 or 1=1", "²³¹¹²³"] {
            assert_eq!(secret.step_of(wrong, now), None, "{wrong}");
        }
    }

    #[test]
    fn apps_read_the_secret_and_whose_it_is() {
        assert_eq!(secret().shown(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert!(TotpSecret::of(&secret().kept()) == Some(secret()) && TotpSecret::of("short").is_none());
        assert!(TotpSecret::fresh() != TotpSecret::fresh());
        let address = secret().address("Autumn: Cup & more", "Zoë O'Brien");
        let expected = "otpauth://totp/Autumn%20%20Cup%20&%20more:Zo%C3%AB%20O'Brien?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\
                        &issuer=Autumn%3A%20Cup%20%26%20more";
        assert_eq!(address, expected);
    }
}
