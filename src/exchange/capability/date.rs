//! Days of the calendar, for what is known since when.
use std::fmt;

/// A day in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Returns the day that a time is on, given in seconds since 1970-01-01 UTC.
    pub fn from_unix(seconds: u64) -> Self {
        // Days are counted from 0000-03-01, so that a leap day is the last of its year; 400 years have 146,097 days.
        let days = seconds / 86_400 + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + u64::from(month <= 2);
        Self { year: u16::try_from(year).unwrap_or(u16::MAX), month: month as u8, day: day as u8 }
    }

    /// Reads `2026-11-28`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let year = parts.next()?.parse().ok()?;
        let month = parts.next()?.parse().ok().filter(|month| (1..=12).contains(month))?;
        let day = parts.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
        Some(Self { year, month, day })
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::Date;

    #[test]
    fn days_come_from_seconds() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_795_873_478, "2026-11-28"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(Date::from_unix(seconds).to_string(), day);
            assert_eq!(Date::parse(day), Some(Date::from_unix(seconds)));
        }
        for text in ["", "2026", "2026-13-01", "2026-11-32", "2026-11-x"] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }
}
