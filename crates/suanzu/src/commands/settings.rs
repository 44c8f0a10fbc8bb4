//! Objects that are replaced whole: read, changed in single fields, and written back only if nobody else did meanwhile.

use crate::{app::App, client::Call, failure::Failure};
use serde_json::Value;

/// `FIELD=VALUE` of a command line; the value is JSON, or text where it is none.
pub fn field(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("write FIELD=VALUE")?;
    Ok((name.into(), serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.into()))))
}

/// Reads the object at `path`, sets the fields, and gives the call that writes it back. The API has decimals as text: fields
/// named in `decimals` may be written as numbers here.
pub fn changed(path: &str, fields: &[(String, Value)], decimals: &[&str], app: &App) -> Result<Call, Failure> {
    let mut read = Call::get(path).of_tenant();
    read.body = None;
    // Reading is harmless and tells what would be written, so `--explain` shows the read alone.
    let answer = app.send(read)?;
    let mut object = answer.body;
    let known = object.as_object_mut().ok_or_else(|| Failure::Usage(format!("{path} is no object")))?;
    for (name, value) in fields {
        if !known.contains_key(name) {
            let names = known.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            return Err(Failure::Usage(format!("there is no field '{name}'; there are {names}")));
        }
        let text = value.is_number() && decimals.contains(&name.as_str());
        known.insert(name.clone(), if text { Value::String(value.to_string()) } else { value.clone() });
    }
    known.remove("seq");
    let call = Call::put(path).of_tenant().body(object);
    Ok(match answer.etag {
        Some(etag) => call.if_match(etag),
        None => call,
    })
}
