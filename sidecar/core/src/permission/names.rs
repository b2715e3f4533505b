//! Names that are no paths: joined MCP names, and the host of a URL.
//!
//! It must never guess: a name that can be read in two ways, or a URL that two parsers could read
//! differently, is reported as unclear, and what is unclear is never allowed by a rule.

/// The joined name's server and tool, when there is only one way to read it.
///
/// The registry's own names do not reach permission; a name with two joints could belong to
/// another server than the rule means.
pub(super) fn mcp_parts(name: &str) -> Option<(&str, &str)> {
    let rest = name.strip_prefix("mcp__")?;
    let bytes = rest.as_bytes();
    let mut joints = (0..bytes.len().saturating_sub(1)).filter(|&at| &bytes[at..at + 2] == b"__");
    let joint = joints.next()?;
    if joints.next().is_some() || joint == 0 || joint + 2 == rest.len() {
        return None;
    }
    Some((&rest[..joint], &rest[joint + 2..]))
}

/// The host of a web address, in lower case and without its trailing dot.
///
/// `None` for whatever two parsers could read differently: user information, a backslash, percent
/// escapes, non-ASCII letters, addresses that are not four plain decimal numbers, other schemes.
pub(super) fn host(url: &str) -> Option<String> {
    let lower = url.to_ascii_lowercase();
    let rest = lower
        .strip_prefix("https://")
        .or_else(|| lower.strip_prefix("http://"))?;
    // Parsers remove or rewrite these anywhere in the text.
    if url
        .chars()
        .any(|c| c.is_control() || c.is_whitespace() || c == '\\')
    {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let host = match authority.split_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => host,
        Some(_) => return None,
        None => authority,
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    let label = |label: &str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    if !host.split('.').all(label) {
        return None;
    }
    let last = host.rsplit('.').next().unwrap_or(host);
    let numeric = last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x");
    (!numeric || is_address(host)).then(|| host.to_owned())
}

/// True for four plain decimal numbers, the one spelling of an address that has one reading.
pub(super) fn is_address(host: &str) -> bool {
    let number =
        |part: &str| part.parse::<u8>().is_ok() && (part == "0" || !part.starts_with(['0', '+']));
    host.split('.').count() == 4 && host.split('.').all(number)
}

/// True when a rule's host pattern covers a host.
///
/// `*.h` is any depth below `h`; any other star stays between two dots. Stars never cover an
/// address or a name without a dot: those lead into the machine or the local network.
pub(super) fn host_matches(pattern: &str, host: &str) -> bool {
    if !pattern.contains('*') {
        return pattern == host;
    }
    if is_address(host) || !host.contains('.') {
        return false;
    }
    if pattern == "*" {
        return true;
    }
    if let Some(apex) = pattern.strip_prefix("*.") {
        if !apex.contains('*') {
            return host
                .strip_suffix(apex)
                .is_some_and(|sub| sub.len() > 1 && sub.ends_with('.'));
        }
    }
    let (wanted, given): (Vec<_>, Vec<_>) =
        (pattern.split('.').collect(), host.split('.').collect());
    wanted.len() == given.len()
        && wanted
            .iter()
            .zip(&given)
            .all(|(pattern, label)| star_matches(pattern, label))
}

/// True when a text with stars, each standing for any text, covers the whole of another.
pub(super) fn star_matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else {
        return rest.is_empty();
    };
    for piece in middle {
        // The leftmost hit leaves the most for what follows, so no going back is needed.
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_joined_name_is_read_only_in_one_way() {
        assert_eq!(mcp_parts("mcp__a__b"), Some(("a", "b")));
        for name in [
            "mcp__a__b__c",
            "mcp__a___b",
            "mcp__a",
            "mcp____b",
            "mcp__a__",
            "a__b",
        ] {
            assert_eq!(mcp_parts(name), None, "{name}");
        }
    }

    #[test]
    fn only_plain_hosts_are_hosts() {
        let check = |url, want: Option<&str>| assert_eq!(host(url).as_deref(), want, "{url}");
        check("https://Example.com./a@b", Some("example.com"));
        check("http://example.com:8080?x", Some("example.com"));
        check("https://127.0.0.1/", Some("127.0.0.1"));
        for url in [
            "https://u@example.com/",
            "https://a:b@c/",
            "https://example.com%2e/",
            "file:///etc",
            "https://127.1/",
            "https://0x7f000001/",
            "https://010.0.0.1/",
            "https://[::1]/",
            "https://evil.org\\@example.com/",
            "https://exa\tmple.com/",
            "https:///x",
            "https://a..b/",
        ] {
            check(url, None);
        }
    }

    #[test]
    fn stars_in_hosts_stay_between_dots() {
        let check = |pattern, host, want| {
            assert_eq!(host_matches(pattern, host), want, "{pattern} {host}");
        };
        check("*.ex.org", "a.b.ex.org", true);
        check("*.ex.org", "ex.org", false);
        check("*.ex.org", "aex.org", false);
        check("ex.*", "ex.org", true);
        check("ex.*", "ex.evil.org", false);
        check("*", "ex.org", true);
        check("*", "localhost", false);
        check("*", "10.0.0.1", false);
        check("10.0.0.1", "10.0.0.1", true);
    }

    #[test]
    fn stars_stand_for_any_text() {
        let check = |pattern, text, want| assert_eq!(star_matches(pattern, text), want);
        check("a*b*c", "axxbyyc", true);
        check("a*b", "ab", true);
        check("a*bb", "abb", true);
        check("ab*ba", "aba", false);
        check("*", "", true);
        check("a", "ab", false);
    }
}
