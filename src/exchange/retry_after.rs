//! How long a server asks to wait before the next request, by the headers of its answer.
use std::time::Duration;

/// Returns the seconds that an answer's headers ask to wait; `None` if they ask for nothing that can be read.
///
/// `retry-after-ms` is what Azure sends and OpenAI's SDKs read first. `Retry-After` is a number of seconds or a date (RFC 9110, 10.2.3).
/// A date counts from the answer's own `Date`: that needs no clock, and the two clocks need not agree. Without a `Date` it says nothing.
pub(super) fn seconds(headers: &[(&str, &str)]) -> Option<f64> {
    let header = |wanted: &str| {
        let found = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.trim())
    };
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| *number >= 0.0);
    if let Some(milliseconds) = header("retry-after-ms").and_then(number) {
        return Some(milliseconds / 1e3);
    }
    let after = header("retry-after")?;
    number(after).or_else(|| {
        let until = httpdate::parse_http_date(after).ok()?;
        let sent = httpdate::parse_http_date(header("date")?).ok()?;
        // A date that has passed asks for no wait.
        Some(until.duration_since(sent).unwrap_or(Duration::ZERO).as_secs_f64())
    })
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn every_form_is_read() {
        let date = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT");
        type Case<'a> = (&'a [(&'a str, &'a str)], Option<f64>);
        let cases: &[Case<'_>] = &[
            (&[], None),
            (&[("Retry-After", " 7 ")], Some(7.0)),
            (&[("retry-after", "0.25")], Some(0.25)),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "nan")], None),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "20"), ("retry-after-ms", "1500")], Some(1.5)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:57 GMT"), date], Some(20.0)),
            // The obsolete forms of RFC 9110, 5.6.7.
            (&[("retry-after", "Sunday, 06-Nov-94 08:50:37 GMT"), date], Some(60.0)),
            (&[("retry-after", "Sun Nov  6 08:49:38 1994"), date], Some(1.0)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:07 GMT"), date], Some(0.0)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:57 GMT")], None),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:57 GMT"), ("date", "today")], None),
        ];
        for (headers, wanted) in cases {
            assert_eq!(seconds(headers), *wanted, "{headers:?}");
        }
    }
}
