//! Finds the data files of a folder, and the files that they name by class path.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use ranger_wire::parse_lenient;
use serde_json::Value;

/// The folders in which Ranger's test data are kept apart, each with the formats of one part of Ranger.
const GROUPS: [&str; 19] = [
    "aclprovider",
    "admin",
    "capability",
    "classpath",
    "comparison",
    "contextenricher",
    "embedded-authz",
    "fixtures",
    "gds",
    "hbase-agent",
    "hdfs-agent",
    "inline",
    "nestedstructure",
    "plugin",
    "polaris",
    "policyengine",
    "resourcematcher",
    "rest-import",
    "validityscheduler",
];

/// More of them, which hold definitions.
const DEFINITION_GROUPS: [&str; 2] = ["service-defs", "servicedef-normalize"];

/// A folder of Ranger's test data, whole or in part.
#[derive(Clone, Debug)]
pub(crate) struct Corpus {
    root: PathBuf,
    /// Where else files lie that tests name.
    references: Option<PathBuf>,
}

/// One JSON file.
#[derive(Clone, Debug)]
pub(crate) struct DataFile {
    /// Below the root, with `/` between folders.
    pub(crate) path: String,
    /// The same from the folder of a group on, where the file lies in one, whatever lies around that.
    place: String,
    pub(crate) json: Value,
}

impl DataFile {
    /// The folder that says what kind of data it is; empty where the file lies in none that is known.
    pub(crate) fn group(&self) -> &str {
        self.place.split_once('/').map(|(first, _)| first).filter(|first| is_group(first)).unwrap_or_default()
    }

    pub(crate) fn folder(&self) -> &str {
        folder_of(&self.path)
    }
}

fn is_group(name: &str) -> bool {
    GROUPS.contains(&name) || DEFINITION_GROUPS.contains(&name)
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

impl Corpus {
    /// `references` is where files are looked for that tests name and that are not in the folder itself.
    pub(crate) fn new(root: &Path, references: Option<&Path>) -> Self {
        let references = references.filter(|folder| folder.is_dir()).map(Path::to_owned);
        Self { root: root.to_owned(), references }
    }

    /// The paths of all JSON files below the root, in order, but for the list of what is there.
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
                } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
                    && path.file_name().is_some_and(|name| name != LIST)
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
        let json = json_of(&read(&self.root.join(path))?, path)?;
        Ok(DataFile { path: path.to_owned(), place: self.place(path), json })
    }

    /// The innermost folder that names a group counts, be it the root itself.
    fn place(&self, path: &str) -> String {
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let mut around: Vec<String> =
            root.iter().map(|part| part.to_string_lossy().into_owned()).rev().take(PARENTS_MAX + 1).collect();
        around.reverse();
        let mut parts: Vec<&str> = around.iter().map(String::as_str).collect();
        parts.extend(path.split('/'));
        let n_folders = parts.len().saturating_sub(1);
        let folders = parts.get(..n_folders).unwrap_or_default();
        // Definitions also lie in a folder of the class path.
        let at = folders
            .iter()
            .position(|name| *name == "classpath")
            .or_else(|| folders.iter().rposition(|name| is_group(name)));
        match at {
            Some(at) => parts.get(at..).unwrap_or_default().join("/"),
            None => path.to_owned(),
        }
    }

    /// A file that lies beside another, or where that one would lie among all data.
    fn beside(&self, file: &DataFile, name: &str) -> Option<PathBuf> {
        let own = self.root.join(file.folder()).join(name);
        let among_all = self.bases().map(|base| base.join(folder_of(&file.place)).join(name));
        std::iter::once(own).chain(among_all).find(|path| path.is_file())
    }

    pub(crate) fn json_beside(&self, file: &DataFile, name: &str) -> Result<Option<Value>> {
        let Some(path) = self.beside(file, name) else { return Ok(None) };
        Ok(Some(json_of(&read(&path)?, &path.to_string_lossy())?))
    }

    /// The text of a file that a test names by its class path, such as `/policyengine/tags.json`: below `classpath`,
    /// else beside the test by its last name.
    pub(crate) fn class_path_text(&self, name: &str, file: &DataFile) -> Result<String> {
        let name = name.trim_start_matches('/');
        let last = name.rsplit('/').next().unwrap_or(name);
        match self.shared(&format!("classpath/{name}")).or_else(|| self.beside(file, last)) {
            Some(path) => read(&path),
            None => anyhow::bail!("`{name}` is neither below `classpath` nor beside the test"),
        }
    }

    pub(crate) fn class_path_json(&self, name: &str, file: &DataFile) -> Result<Value> {
        json_of(&self.class_path_text(name, file)?, name)
    }

    /// A definition that Ranger ships, by the type's name.
    pub(crate) fn shipped_definition(&self, name: &str) -> Result<Value> {
        let path = format!("service-defs/ranger-servicedef-{name}.json");
        self.shared_json(&path)?.with_context(|| format!("there is no `{path}`"))
    }

    /// A file by its place among all data.
    pub(crate) fn shared_json(&self, path: &str) -> Result<Option<Value>> {
        let Some(found) = self.shared(path) else { return Ok(None) };
        Ok(Some(json_of(&read(&found)?, path)?))
    }

    fn shared(&self, path: &str) -> Option<PathBuf> {
        self.bases().map(|base| base.join(path)).find(|path| path.is_file())
    }

    /// Where all data may lie: the folder, those around it if it is only a part, and what was named for it.
    fn bases(&self) -> impl Iterator<Item = &Path> {
        self.root.ancestors().take(PARENTS_MAX + 1).chain(self.references.as_deref())
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
                texts.push(read(&path)?);
            }
        }
        Ok(texts)
    }
}

/// The list of all data, which holds none itself.
const LIST: &str = "MANIFEST.json";

/// So many folders around the given one may be the one of all data.
const PARENTS_MAX: usize = 2;

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("`{}` cannot be read", path.display()))
}

fn json_of(text: &str, path: &str) -> Result<Value> {
    parse_lenient(text).with_context(|| format!("`{path}`"))
}

#[cfg(test)]
mod tests {
    use super::Corpus;
    use crate::tests::folder;

    #[test]
    fn a_file_is_of_its_group_however_deep_the_folder_is_given() {
        let root = folder("groups", &[("all/plugin/deep/a.json", "{}"), ("all/loose.json", "{}")]);
        for (given, path, group) in [
            ("all", "plugin/deep/a.json", "plugin"),
            ("", "all/plugin/deep/a.json", "plugin"),
            ("all/plugin", "deep/a.json", "plugin"),
            ("all/plugin/deep", "a.json", "plugin"),
            ("all", "loose.json", ""),
        ] {
            let corpus = Corpus::new(&root.join(given), None);
            assert!(corpus.paths().unwrap().contains(&path.to_owned()), "{given} {path}");
            assert_eq!(corpus.load(path).unwrap().group(), group, "{given} {path}");
        }
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_a_part_lacks_is_found_among_all_data() {
        let all = folder(
            "all",
            &[
                ("classpath/etc/a.json", "{\"a\": 1}"),
                ("embedded-authz/x/dev.json", "{\"a\": 2}"),
                ("service-defs/ranger-servicedef-hive.json", "{\"a\": 3}"),
            ],
        );
        let part = folder("part-alone", &[("embedded-authz/x/tests.json", "[]")]);
        let corpus = Corpus::new(&part.join("embedded-authz"), Some(&all));
        let file = corpus.load("x/tests.json").unwrap();
        assert_eq!(corpus.class_path_json("/etc/a.json", &file).unwrap()["a"], 1);
        assert_eq!(corpus.json_beside(&file, "dev.json").unwrap().unwrap()["a"], 2);
        assert_eq!(corpus.shipped_definition("hive").unwrap()["a"], 3);
        assert!(corpus.shipped_definition("trino").is_err());
        let alone = Corpus::new(&part, None);
        assert!(alone.class_path_json("/etc/a.json", &file).is_err());
        for folder in [all, part] {
            std::fs::remove_dir_all(folder).unwrap();
        }
    }
}
