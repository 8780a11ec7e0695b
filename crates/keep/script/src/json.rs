//! Writes JSON for the engine to read.

/// Builds one object or list.
#[derive(Default)]
pub(crate) struct JsonText(String);

impl JsonText {
    pub(crate) fn into_text(self) -> String {
        self.0
    }

    pub(crate) fn raw(&mut self, text: &str) {
        self.0.push_str(text);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.0.push('"');
        for c in text.chars() {
            match c {
                '"' => self.0.push_str("\\\""),
                '\\' => self.0.push_str("\\\\"),
                c if u32::from(c) < 0x20 => self.0.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => self.0.push(c),
            }
        }
        self.0.push('"');
    }

    pub(crate) fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        self.separated('[', ']', items, &mut item);
    }

    /// Names and values.
    pub(crate) fn object<'n, T>(
        &mut self,
        fields: impl IntoIterator<Item = (&'n str, T)>,
        mut value: impl FnMut(&mut Self, T),
    ) {
        self.separated('{', '}', fields, &mut |json: &mut Self, (name, field)| {
            json.text(name);
            json.0.push(':');
            value(json, field);
        });
    }

    fn separated<T>(
        &mut self,
        open: char,
        close: char,
        items: impl IntoIterator<Item = T>,
        write: &mut impl FnMut(&mut Self, T),
    ) {
        self.0.push(open);
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                self.0.push(',');
            }
            write(self, item);
        }
        self.0.push(close);
    }
}
