//! Reads settings from a file, the environment and flags; every name and value is checked where it stands.

use std::ops::Range;
use std::path::Path;

use toml_edit::{Document, Item, Key, TableLike, Value as TomlValue};

use super::fault::{Fault, Place, did_you_mean};
use super::options::{self, CATALOGS, Kind, OptionDef, Setting, Settings, Value};

const ENV_PREFIX: &str = "SLUICE_";

pub(crate) fn file(path: &Path, text: &str, settings: &mut Settings, faults: &mut Vec<Fault>) {
    let source = File { path, text };
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            faults.push(Fault::new(source.place(error.span()), message));
            return;
        }
    };
    for (name, item) in document.iter() {
        let place = source.place(document.key(name).and_then(Key::span).or_else(|| item.span()));
        section(&source, name, item, &place, settings, faults);
    }
}

/// A file's text, to tell places in it.
struct File<'a> {
    path: &'a Path,
    text: &'a str,
}

impl File<'_> {
    fn place(&self, span: Option<Range<usize>>) -> Place {
        let Some(span) = span else { return Place::File(self.path.to_owned()) };
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Place::At { file: self.path.to_owned(), line, column }
    }

    fn key_place(&self, table: &dyn TableLike, key: &str, item: &Item) -> Place {
        self.place(table.key(key).and_then(Key::span).or_else(|| item.span()))
    }

    /// A relative path in a file starts at the file's folder.
    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

fn section(
    source: &File<'_>,
    name: &str,
    item: &Item,
    place: &Place,
    settings: &mut Settings,
    faults: &mut Vec<Fault>,
) {
    let section = canonical(name);
    let Some(table) = item.as_table_like() else {
        let message = format!("`{name}` stands outside a section");
        let home = options::OPTIONS.iter().find(|def| def.key == section);
        let help = home.map(|def| format!("it belongs under `[{}]`", def.section));
        faults.push(Fault::new(place.clone(), message).with_help(help.or_else(|| known_sections(&section))));
        return;
    };
    if section == CATALOGS {
        for (catalog, item) in table.iter() {
            let place = source.key_place(table, catalog, item);
            catalog_table(source, catalog, item, &place, settings, faults);
        }
        return;
    }
    let known = options::sections().contains(&section.as_str()) || is_alias_section(&section);
    if !known {
        faults.push(
            Fault::new(place.clone(), format!("unknown section `[{name}]`"))
                .with_help(known_sections(&section)),
        );
        return;
    }
    entries(source, &section, table, settings, faults);
}

/// The entries of a section, and of sections inside it that another product's names have.
fn entries(
    source: &File<'_>,
    section: &str,
    table: &dyn TableLike,
    settings: &mut Settings,
    faults: &mut Vec<Fault>,
) {
    for (key, item) in table.iter() {
        let place = source.key_place(table, key, item);
        let name = canonical(key);
        match item {
            Item::Table(_) | Item::Value(TomlValue::InlineTable(_))
                if options::find(section, &name).is_none() =>
            {
                let inner = format!("{section}.{name}");
                match item.as_table_like() {
                    Some(table) if is_alias_section(&inner) => {
                        entries(source, &inner, table, settings, faults)
                    }
                    _ => faults.push(Fault::new(place, format!("unknown section `[{section}.{key}]`"))),
                }
            }
            _ => {
                let Some(def) = resolve(section, &name, key, &place, faults) else { continue };
                let value_place = source.place(item.span());
                match from_toml(def, item, source.folder()) {
                    Ok(value) => put(def, Setting { value, place }, settings, faults),
                    Err(message) => faults.push(Fault::new(value_place, message)),
                }
            }
        }
    }
}

fn catalog_table(
    source: &File<'_>,
    catalog: &str,
    item: &Item,
    place: &Place,
    settings: &mut Settings,
    faults: &mut Vec<Fault>,
) {
    let Some(table) = item.as_table_like() else {
        let help = Some(format!("write `[catalogs.{catalog}]`"));
        faults.push(
            Fault::new(place.clone(), format!("`{catalog}` is not a table of settings")).with_help(help),
        );
        return;
    };
    catalog_name(catalog, place, faults);
    settings.catalog(catalog, place);
    for (key, item) in table.iter() {
        let place = source.key_place(table, key, item);
        let Some(def) = resolve(CATALOGS, &canonical(key), key, &place, faults) else { continue };
        match from_toml(def, item, source.folder()) {
            Ok(value) => put_catalog(catalog, Setting { value, place }, settings),
            Err(message) => faults.push(Fault::new(source.place(item.span()), message)),
        }
    }
}

pub(crate) fn env(env: &[(String, String)], settings: &mut Settings, faults: &mut Vec<Fault>) {
    let mut ours: Vec<&(String, String)> =
        env.iter().filter(|(name, _)| name.starts_with(ENV_PREFIX)).collect();
    ours.sort();
    for (name, text) in ours {
        let place = Place::Env(name.clone());
        let rest = name.strip_prefix(ENV_PREFIX).unwrap_or_default().to_ascii_lowercase();
        let parts: Vec<&str> = rest.split("__").collect();
        match parts.as_slice() {
            [CATALOGS, catalog, key] => {
                let Some(def) = resolve(CATALOGS, key, key, &place, faults) else { continue };
                catalog_name(catalog, &place, faults);
                match from_text(def, text) {
                    Ok(value) => put_catalog(catalog, Setting { value, place: place.clone() }, settings),
                    Err(message) => faults.push(Fault::new(place.clone(), message)),
                }
                settings.catalog(catalog, &place);
            }
            [_] => env_without_section(&rest, place, faults),
            [section @ .., key] => {
                let Some(def) = resolve(&section.join("."), key, key, &place, faults) else { continue };
                match from_text(def, text) {
                    Ok(value) => put(def, Setting { value, place }, settings, &mut Vec::new()),
                    Err(message) => faults.push(Fault::new(place, message)),
                }
            }
            [] => {}
        }
    }
}

/// A name without `__` is none of ours, unless it looks as if one underscore were missing.
fn env_without_section(rest: &str, place: Place, faults: &mut Vec<Fault>) {
    let meant = options::OPTIONS.iter().find(|def| rest == format!("{}_{}", def.section, def.key));
    if let Some(def) = meant {
        let name = format!("{ENV_PREFIX}{}__{}", def.section, def.key).to_ascii_uppercase();
        let help = Some(format!("did you mean `{name}`, with two underscores?"));
        faults.push(Fault::new(place, "names no setting").with_help(help));
    }
}

pub(crate) fn flags(flags: &[(String, String)], settings: &mut Settings, faults: &mut Vec<Fault>) {
    for (name, text) in flags {
        let place = Place::Flag(name.clone());
        let Some((section, key)) = name.rsplit_once('.') else {
            faults.push(Fault::new(place, "names no setting"));
            continue;
        };
        let catalog = section.strip_prefix(CATALOGS).and_then(|rest| rest.strip_prefix('.'));
        let Some(def) = resolve(catalog.map_or(section, |_| CATALOGS), key, key, &place, faults) else {
            continue;
        };
        match (from_text(def, text), catalog) {
            (Ok(value), Some(catalog)) => put_catalog(catalog, Setting { value, place }, settings),
            (Ok(value), None) => put(def, Setting { value, place }, settings, &mut Vec::new()),
            (Err(message), _) => faults.push(Fault::new(place, message)),
        }
    }
}

/// The option that a name means, by its own name or another product's.
fn resolve(
    section: &str,
    key: &str,
    typed: &str,
    place: &Place,
    faults: &mut Vec<Fault>,
) -> Option<&'static OptionDef> {
    if let Some(def) = options::find(section, key) {
        return Some(def);
    }
    if let Some(def) = options::find_alias(&format!("{section}.{key}")) {
        return Some(def);
    }
    let keys = options::keys(section);
    if keys.is_empty() && !is_alias_section(section) {
        let fault = Fault::new(place.clone(), format!("unknown section `{section}`"));
        faults.push(fault.with_help(known_sections(section)));
        return None;
    }
    let help = did_you_mean(key, keys.iter().copied()).or_else(|| {
        let elsewhere = options::OPTIONS.iter().find(|def| def.key == key);
        elsewhere.map(|def| format!("`{key}` belongs under `[{}]`", def.section))
    });
    let help = help.or_else(|| (!keys.is_empty()).then(|| format!("known are {}", listed(&keys))));
    faults.push(Fault::new(place.clone(), format!("unknown key `{typed}` in `[{section}]`")).with_help(help));
    None
}

fn put(def: &OptionDef, setting: Setting, settings: &mut Settings, faults: &mut Vec<Fault>) {
    let place = setting.place.clone();
    let twice = settings.put(def, setting).is_some();
    if twice {
        faults.push(Fault::new(place, format!("`{}.{}` is set twice", def.section, def.key)));
    }
}

fn put_catalog(catalog: &str, setting: Setting, settings: &mut Settings) {
    let place = setting.place.clone();
    if let Some(catalog) = settings.catalog(catalog, &place) {
        catalog.warehouse = Some(setting);
    }
}

/// Catalog names become file names, policy resources and parts of SQL names.
fn catalog_name(name: &str, place: &Place, faults: &mut Vec<Fault>) {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && name.len() <= 63;
    let message = match name {
        "sys" | "system" | "information_schema" | "pg_catalog" => "is a name that Sluice itself uses",
        _ if !plain => "is no catalog name: lower-case letters, digits and `_`, at most 63, a letter first",
        _ => return,
    };
    faults.push(Fault::new(place.clone(), format!("`{name}` {message}")));
}

fn from_toml(def: &OptionDef, item: &Item, folder: &Path) -> Result<Value, String> {
    let value = item.as_value();
    let wrong = || Err(format!("`{}` takes {}", def.key, takes(def.kind)));
    match def.kind {
        Kind::Flag => value.and_then(TomlValue::as_bool).map_or_else(wrong, |flag| Ok(Value::Flag(flag))),
        Kind::Count { .. } => {
            let count = value.and_then(TomlValue::as_integer).and_then(|n| u64::try_from(n).ok());
            count.map_or_else(wrong, |count| count_in_range(def, count))
        }
        Kind::Paths => {
            let Some(array) = value.and_then(TomlValue::as_array) else { return wrong() };
            let mut paths = Vec::new();
            for path in array.iter() {
                let Some(path) = path.as_str() else { return wrong() };
                paths.push(folder.join(path).display().to_string());
            }
            Ok(Value::Texts(paths))
        }
        Kind::Path => {
            let path = value.and_then(TomlValue::as_str).filter(|path| !path.is_empty());
            path.map_or_else(wrong, |path| Ok(Value::Text(folder.join(path).display().to_string())))
        }
        Kind::Text | Kind::Address | Kind::OneOf(_) | Kind::Secret => {
            value.and_then(TomlValue::as_str).map_or_else(wrong, |text| checked_text(def, text))
        }
    }
}

fn from_text(def: &OptionDef, text: &str) -> Result<Value, String> {
    let wrong = || Err(format!("`{}` takes {}", def.key, takes(def.kind)));
    match def.kind {
        Kind::Flag => match text {
            "true" => Ok(Value::Flag(true)),
            "false" => Ok(Value::Flag(false)),
            _ => wrong(),
        },
        Kind::Count { .. } => text.parse().map_or_else(|_| wrong(), |count| count_in_range(def, count)),
        Kind::Paths => Ok(Value::Texts(
            text.split(',').map(str::trim).filter(|p| !p.is_empty()).map(str::to_owned).collect(),
        )),
        Kind::Path if text.is_empty() => wrong(),
        Kind::Path | Kind::Text | Kind::Address | Kind::OneOf(_) | Kind::Secret => checked_text(def, text),
    }
}

fn checked_text(def: &OptionDef, text: &str) -> Result<Value, String> {
    let right = match def.kind {
        Kind::OneOf(values) => values.contains(&text),
        Kind::Address => text == "off" || is_address(text),
        Kind::Secret => text.len() >= 16,
        _ => true,
    };
    if right {
        Ok(Value::Text(text.to_owned()))
    } else {
        Err(format!("`{}` takes {}", def.key, takes(def.kind)))
    }
}

fn is_address(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

fn count_in_range(def: &OptionDef, count: u64) -> Result<Value, String> {
    match def.kind {
        Kind::Count { min, max } if count < min || count > max => {
            Err(format!("`{}` takes {}", def.key, takes(def.kind)))
        }
        _ => Ok(Value::Count(count)),
    }
}

/// The values of a kind, in words; used by messages and the reference.
pub(crate) fn takes(kind: Kind) -> String {
    match kind {
        Kind::Text => "a text".to_owned(),
        Kind::Path => "a path".to_owned(),
        Kind::Paths => "a list of paths".to_owned(),
        Kind::Address => "`host:port` or `off`".to_owned(),
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Count { min, max } => format!("a whole number from {min} to {max}"),
        Kind::OneOf(values) => {
            let quoted: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
            quoted.join(" or ")
        }
        Kind::Secret => "a text of at least 16 bytes".to_owned(),
    }
}

fn canonical(name: &str) -> String {
    name.replace('-', "_")
}

fn is_alias_section(section: &str) -> bool {
    let inside = |alias: &str| alias.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'));
    options::OPTIONS.iter().flat_map(|def| def.aliases).any(|alias| inside(alias))
}

fn known_sections(typed: &str) -> Option<String> {
    let sections = options::sections();
    did_you_mean(typed, sections.iter().copied()).or_else(|| Some(format!("known are {}", listed(&sections))))
}

fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
