//! Named contexts in the user's configuration folder: which server, with which key.
//!
//! `contexts.toml`, mode 0600 since it holds keys.

use anyhow::{Context as _, anyhow};
use etcetera::BaseStrategy;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// All contexts of this user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Contexts {
    /// The one that is used where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// By name.
    #[serde(default)]
    pub contexts: BTreeMap<String, Context>,
}

/// One server and how to reach it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Such as `https://suanzu.example`.
    pub url: String,
    /// The key's secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The certificate (PEM) of a server that made its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// The tenant that an operator means where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

impl Contexts {
    /// Where they are kept.
    pub fn file() -> anyhow::Result<PathBuf> {
        let folders = etcetera::choose_base_strategy().map_err(|e| anyhow!("there is no configuration folder: {e}"))?;
        Ok(folders.config_dir().join("suanzu").join("contexts.toml"))
    }

    /// Reads them; none where there is no file.
    pub fn load(file: &Path) -> anyhow::Result<Contexts> {
        match fs::read_to_string(file) {
            Ok(text) => toml::from_str(&text).with_context(|| format!("{} is damaged", file.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Contexts::default()),
            Err(error) => Err(error).with_context(|| format!("reading {}", file.display())),
        }
    }

    /// Writes them, all or nothing.
    pub fn save(&self, file: &Path) -> anyhow::Result<()> {
        let folder = file.parent().context("the file stands in a folder")?;
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        let new = file.with_extension("new");
        let text = toml::to_string(self)?;
        let options = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new);
        let written = options.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
        written.and_then(|()| fs::rename(&new, file)).with_context(|| format!("writing {}", file.display()))
    }

    /// The context of this name, or the current one.
    pub fn find(&self, name: Option<&str>) -> anyhow::Result<Option<&Context>> {
        match name.or(self.current.as_deref()) {
            None => Ok(None),
            Some(name) => {
                let known = self.contexts.get(name);
                known.map(Some).ok_or_else(|| anyhow!("there is no context '{name}'; see `suanzu context list`"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn contexts_are_read_back_as_they_were_written_and_by_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("suanzu").join("contexts.toml");
        assert_eq!(Contexts::load(&file).unwrap(), Contexts::default());
        let demo = Context { url: "http://127.0.0.1:1".into(), key: Some("sz_x".into()), ..Context::default() };
        let contexts = Contexts { current: Some("demo".into()), contexts: [("demo".into(), demo)].into() };
        contexts.save(&file).unwrap();
        assert_eq!(Contexts::load(&file).unwrap(), contexts);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(contexts.find(Some("other")).is_err());
        assert_eq!(contexts.find(None).unwrap().unwrap().key.as_deref(), Some("sz_x"));
    }
}
