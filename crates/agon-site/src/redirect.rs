//! Where pages lead to next: addresses of this site only, whatever was asked for.

use axum::response::Redirect;
use url::Url;

/// The longest address that a request may ask for.
const LONGEST: usize = 2_048;

/// Leads to an address of this site; to its first page, where `address` leads elsewhere.
pub fn to(address: &str) -> Redirect {
    #[expect(clippy::disallowed_methods, reason = "the one place where it is checked")]
    Redirect::to(&own(address))
}

/// The address as a browser of this site understands it, if that is one of this site; otherwise its first page.
///
/// Browsers drop tabs and line ends, take `\` for `/`, and resolve dots: all of that is left to the parser they use, too, and
/// what comes out is what is sent.
pub fn own(address: &str) -> String {
    let first = || "/".to_owned();
    // A name that is nobody's: what leads elsewhere comes out with another.
    let Ok(base) = Url::parse("https://site.invalid/") else { return first() };
    if !address.starts_with('/') || address.len() > LONGEST {
        return first();
    }
    let Ok(url) = base.join(address) else { return first() };
    let is_own = url.origin() == base.origin() && url.username().is_empty() && url.password().is_none();
    let found = &url[url::Position::BeforePath..];
    // `/.//evil.example` is a path of this site, which alone would be another's address.
    if is_own && !found.starts_with("//") { found.to_owned() } else { first() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_site_stay_as_they_are() {
        for address in [
            "/",
            "/ladder",
            "/matches?team=3&map=a%20b#first",
            "/sign-in?next=/team/7",
            "/version/3/log",
            "/%2F/evil.example",
            "/%5Cevil.example",
            "/%09/evil.example",
            "/a//b",
            "/?next=//evil.example",
            "/@evil.example",
        ] {
            assert_eq!(own(address), address);
        }
        assert_eq!(own("/team/../ladder"), "/ladder");
        assert_eq!(own("/a b\"<ü>"), "/a%20b%22%3C%C3%BC%3E");
        assert_eq!(own("/lad\tder\r\n"), "/ladder");
    }

    #[test]
    fn nobody_is_led_to_another_site() {
        for foreign in [
            "",
            "ladder",
            " /ladder",
            "https://evil.example",
            "https:evil.example",
            "//evil.example",
            "///evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "/\r\n/evil.example",
            "\t//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/\t\\evil.example",
            "/\\/evil.example",
            "/./\\evil.example",
            "/.//evil.example",
            "/..//evil.example",
            "/a/..//evil.example",
            "/%2e//evil.example",
            "/%2E%2e//evil.example",
            "/.\t//evil.example",
            "//user:word@evil.example",
            "//site.invalid@evil.example",
            "//user@site.invalid/",
            "//site.invalid:81/",
            "//",
            "//[",
            "javascript:alert(1)",
            "data:text/html,x",
            &format!("/{}", "x".repeat(LONGEST)),
        ] {
            assert_eq!(own(foreign), "/", "{foreign:?}");
        }
    }
}
