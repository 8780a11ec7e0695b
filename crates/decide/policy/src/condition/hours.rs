//! The condition on the time of day (RangerTimeOfDayMatcher).

/// `9am - 5:30pm`, both ends included; it goes over midnight if it ends before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HourRange {
    from: u32,
    to: u32,
}

impl HourRange {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { rest: text };
        let from = reader.time()?;
        reader.takes('-').then_some(())?;
        let to = reader.time()?;
        reader.rest.trim_start_matches(' ').is_empty().then_some(Self { from, to })
    }

    /// Minutes since midnight.
    pub(super) fn has(self, minute: u32) -> bool {
        if self.from < self.to {
            (self.from..=self.to).contains(&minute)
        } else {
            self.from <= minute || minute <= self.to
        }
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    /// `9am`, `12:30 P.M.`.
    fn time(&mut self) -> Option<u32> {
        let hour = self.number()?;
        let minute = if self.rest.starts_with(':') {
            self.rest = self.rest.get(1..)?;
            self.number()?
        } else {
            0
        };
        let is_afternoon = if self.takes('p') || self.takes('P') {
            true
        } else if self.takes('a') || self.takes('A') {
            false
        } else {
            return None;
        };
        self.rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
        self.rest = self.rest.strip_prefix(['m', 'M'])?;
        self.rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
        let hour = match (hour, is_afternoon) {
            (12, false) => 0,
            (12, true) | (_, false) => hour,
            (_, true) => hour + 12,
        };
        Some(hour * 60 + minute)
    }

    /// One or two digits.
    fn number(&mut self) -> Option<u32> {
        self.rest = self.rest.trim_start_matches(' ');
        let n = self.rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        digits.parse().ok()
    }

    fn takes(&mut self, c: char) -> bool {
        match self.rest.trim_start_matches(' ').strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}
