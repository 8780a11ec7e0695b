//! Finds the data files of a folder, and the files that they name by class path.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use ranger_wire::parse_lenient;
use serde_json::Value;

/// A folder of Ranger's test data.
#[derive(Clone, Debug)]
pub(crate) struct Corpus {
    root: PathBuf,
}

/// One JSON file.
#[derive(Clone, Debug)]
pub(crate) struct DataFile {
    /// Below the root, with `/` between folders.
    pub(crate) path: String,
    pub(crate) json: Value,
}

impl DataFile {
    /// The first folder of the path, which says what kind of data it is.
    pub(crate) fn group(&self) -> &str {
        self.path.split_once('/').map_or("", |(first, _)| first)
    }

    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

impl Corpus {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// The paths of all JSON files below the root, in order. Those at the root itself tell about the data.
    pub(crate) fn paths(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut waiting = vec![self.root.clone()];
        while let Some(folder) = waiting.pop() {
            let entries = std::fs::read_dir(&folder)
                .with_context(|| format!("`{}` cannot be read", folder.display()))?;
            for entry in entries {
                let path = entry?.path();
                if path.is_dir() {
                    waiting.push(path);
                } else if path.extension().is_some_and(|extension| extension == "json")
                    && folder != self.root
                    && let Ok(below) = path.strip_prefix(&self.root)
                {
                    found.push(below.to_string_lossy().replace('\\', "/"));
                }
            }
        }
        found.sort();
        Ok(found)
    }

    pub(crate) fn load(&self, path: &str) -> Result<DataFile> {
        let text = self.text(path)?;
        let json = parse_lenient(&text).with_context(|| format!("`{path}`"))?;
        Ok(DataFile { path: path.to_owned(), json })
    }

    fn text(&self, path: &str) -> Result<String> {
        let whole = self.root.join(path);
        std::fs::read_to_string(&whole).with_context(|| format!("`{}` cannot be read", whole.display()))
    }

    /// The text of a file that a test names by its class path, such as `/policyengine/tags.json`: below `classpath`,
    /// else beside the test by its last name.
    pub(crate) fn class_path_text(&self, name: &str, beside: &DataFile) -> Result<String> {
        let name = name.trim_start_matches('/');
        let last = name.rsplit('/').next().unwrap_or(name);
        let places = [format!("classpath/{name}"), format!("{}/{last}", beside.folder())];
        for place in &places {
            if self.root.join(place).is_file() {
                return self.text(place);
            }
        }
        anyhow::bail!("`{name}` is neither of {}", places.join(", "))
    }

    pub(crate) fn class_path_json(&self, name: &str, beside: &DataFile) -> Result<Value> {
        let text = self.class_path_text(name, beside)?;
        parse_lenient(&text).with_context(|| format!("`{name}`"))
    }

    /// A definition that Ranger ships, by the type's name.
    pub(crate) fn shipped_definition(&self, name: &str) -> Result<Value> {
        Ok(self.load(&format!("service-defs/ranger-servicedef-{name}.json"))?.json)
    }

    /// The texts that lie in a file's folder and are no JSON.
    pub(crate) fn texts_beside(&self, file: &DataFile) -> Result<Vec<String>> {
        let folder = self.root.join(file.folder());
        let entries =
            std::fs::read_dir(&folder).with_context(|| format!("`{}` cannot be read", folder.display()))?;
        let mut texts = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "txt") {
                let text = std::fs::read_to_string(&path)
                    .with_context(|| format!("`{}` cannot be read", path.display()))?;
                texts.push(text);
            }
        }
        Ok(texts)
    }

    /// Whether a file lies below the root.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.root.join(path).is_file()
    }
}
