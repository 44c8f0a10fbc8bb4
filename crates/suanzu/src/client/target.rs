//! Which server is meant, and with which key: from the options, the environment, a data folder, a context.

use super::{Contexts, context::Context};
use anyhow::Context as _;
use reqwest::blocking::Client as Http;
use std::{fs, path::PathBuf};

/// Where a server listens unless told otherwise.
pub const DEFAULT_URL: &str = "http://127.0.0.1:7070";

/// One server, as it is called.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Target {
    /// Such as `http://127.0.0.1:7070`.
    pub url: String,
    /// The key's secret.
    pub key: Option<String>,
    /// The certificate that it must show, beside those that the system trusts.
    pub ca_file: Option<PathBuf>,
    /// Sessions: the one certificate that it shows, whoever signed it and whatever names are in it. Our own server's.
    pub shows: Option<PathBuf>,
    /// The tenant that an operator means.
    pub tenant: Option<String>,
}

/// What was said about the server, by whomever.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// `--url` or `SUANZU_URL`.
    pub url: Option<String>,
    /// `--key` or `SUANZU_KEY`.
    pub key: Option<String>,
    /// `--ca` or `SUANZU_CA`.
    pub ca_file: Option<PathBuf>,
    /// `--tenant`.
    pub tenant: Option<String>,
    /// `--context`.
    pub context: Option<String>,
    /// `--data` or `SUANZU_DATA`: a server on this folder has written down where it listens.
    pub data: Option<PathBuf>,
}

impl Target {
    /// What is named goes before what is found: an address with its own key, a data folder, a context, the default address.
    pub fn resolve(given: &Given) -> anyhow::Result<Target> {
        let local = given.data.as_ref().filter(|_| given.context.is_none()).and_then(|data| crate::serve::listening(data));
        let context = if (given.url.is_some() || local.is_some()) && given.context.is_none() {
            Context::default()
        } else {
            Contexts::load(&Contexts::file()?)?.find(given.context.as_deref())?.cloned().unwrap_or_default()
        };
        let known = Some(context.url).filter(|url| !url.is_empty());
        let (local_url, local_ca) = local.map_or((None, None), |l| (Some(l.url), l.certificate));
        let url = given.url.clone().or(local_url).or(known).unwrap_or_else(|| DEFAULT_URL.into());
        Ok(Target {
            url: if url.contains("://") { url } else { format!("http://{url}") },
            key: given.key.clone().or(context.key),
            ca_file: given.ca_file.clone().or(local_ca).or(context.ca_file),
            shows: None,
            tenant: given.tenant.clone().or(context.tenant),
        })
    }

    /// An HTTP client that trusts this server's certificate.
    pub fn http(&self) -> anyhow::Result<Http> {
        let mut builder = Http::builder().user_agent(concat!("suanzu/", env!("CARGO_PKG_VERSION")));
        if let Some(file) = &self.ca_file {
            let pem = fs::read(file)
                .with_context(|| format!("reading {}, the certificate that --ca or SUANZU_CA names", file.display()))?;
            let certificate =
                reqwest::Certificate::from_pem(&pem).with_context(|| format!("{} is no certificate in PEM", file.display()))?;
            builder = builder.tls_certs_only([certificate]);
        }
        builder.build().context("setting up HTTP")
    }
}
