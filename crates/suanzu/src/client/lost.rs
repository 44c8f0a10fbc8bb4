//! Why no answer came, as far as somebody can do something about it.

use crate::language::{Language, phrases as p};
use std::error::Error;

/// No answer came.
#[derive(Debug)]
pub struct Lost {
    /// No connection was made: nothing was sent.
    pub refused: bool,
    /// What it comes from.
    pub cause: Cause,
    /// The innermost cause: the outer ones only say that a request failed.
    pub why: String,
}

/// What it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The server's certificate is not trusted here.
    NotTrusted,
    /// TLS was spoken to a server that speaks plain HTTP.
    NoTls,
    /// Plain HTTP was spoken to a server that speaks TLS.
    Tls,
    /// Anything else: it may pass by itself.
    Other,
}

impl Lost {
    /// From a request that failed.
    pub fn of(error: &reqwest::Error) -> Lost {
        let why = causes(error).last().map_or_else(|| error.to_string(), ToString::to_string);
        Lost { refused: error.is_connect(), cause: cause(error, &why), why }
    }

    /// In words, with what to do.
    pub fn explained(&self, url: &str, language: Language) -> String {
        let phrase = match self.cause {
            Cause::NotTrusted => &p::NOT_TRUSTED,
            Cause::NoTls => &p::SPEAKS_NO_TLS,
            Cause::Tls => &p::SPEAKS_TLS,
            Cause::Other => &p::UNREACHABLE,
        };
        language.fill(phrase, &[url, &self.why])
    }
}

fn cause(error: &reqwest::Error, why: &str) -> Cause {
    let tls = causes(error).find_map(|cause| cause.downcast_ref::<rustls::Error>());
    match tls {
        Some(rustls::Error::InvalidCertificate(_)) => Cause::NotTrusted,
        Some(rustls::Error::InvalidMessage(_)) => Cause::NoTls,
        // The alert that TLS answers with is no line of HTTP.
        None if why.contains("HTTP version") => Cause::Tls,
        _ => Cause::Other,
    }
}

/// An error and all that lies beneath it. What an I/O error wraps is not its source, but itself.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| {
        let error: &'a (dyn Error + 'static) = *error;
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        wrapped.map(|wrapped| wrapped as &(dyn Error + 'static)).or_else(|| error.source())
    })
}
