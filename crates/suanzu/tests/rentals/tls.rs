//! What is wrong with a certificate, or with TLS as a whole, is said with what to do.

use crate::world::{World, bare};
use std::process::Command;

/// A command of a machine that has no data folder.
fn elsewhere(world: &World, url: &str) -> Command {
    let mut command = bare(world.data().parent().unwrap());
    command.args(["--url", url]);
    command
}

fn said(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_certificate_that_is_not_trusted_names_the_file_to_give() {
    let world = World::with(&["--tls", "--no-host"]);
    let url = world.url();
    let (code, err) = said(elsewhere(&world, &url).args(["offer", "list"]));
    assert!(code == Some(1) && err.contains("--ca") && err.contains("tls/certificate.pem"), "{err}");
    let (code, err) = said(elsewhere(&world, &url.replace("https", "http")).args(["offer", "list"]));
    assert!(code == Some(1) && err.contains("https://"), "{err}");
    let (code, err) = said(elsewhere(&world, &url).args(["--ca", "/nowhere.pem", "offer", "list"]));
    assert!(code == Some(1) && err.contains("/nowhere.pem") && err.contains("--ca"), "{err}");
    let certificate = world.data().join("tls/certificate.pem");
    let log = std::fs::read_to_string(world.file("serve.log")).unwrap();
    assert!(log.contains(&certificate.display().to_string()), "the server says where it lies: {log}");
    let trusting = elsewhere(&world, &url).env("SUANZU_CA", certificate).args(["agent", "run", "--key", "sz_nobody"]).output();
    let err = String::from_utf8_lossy(&trusting.unwrap().stderr).into_owned();
    assert!(err.contains("suanzu agent add"), "it is trusted, the key is not: {err}");
    let (code, err) = said(elsewhere(&world, &url).args(["agent", "run", "--key", "sz_nobody"]));
    assert!(code == Some(1) && err.contains("--ca"), "an agent does not wait for a certificate: {err}");
}

#[test]
fn tls_to_a_server_that_speaks_none_is_told_apart() {
    let world = World::with(&["--no-host"]);
    let (code, err) = said(elsewhere(&world, &world.url().replace("http", "https")).args(["offer", "list"]));
    assert!(code == Some(1) && err.contains("http://"), "{err}");
}

#[test]
fn what_a_workload_writes_is_shown_whoever_signed_the_servers_certificate() {
    let mut world = World::start();
    let (chain, key) = server::Tls::self_signed(vec!["127.0.0.1".into()]).unwrap();
    let (certificate, private, config) = (world.file("cert.pem"), world.file("key.pem"), world.file("config.toml"));
    std::fs::write(&certificate, chain).unwrap();
    std::fs::write(&private, key).unwrap();
    let lines = format!("[tls]\ncertificate = {certificate:?}\nkey = {private:?}\n");
    std::fs::write(&config, lines).unwrap();
    world.stop();
    world.restart_with(&["--config", config.to_str().unwrap()]);
    let words = ["run", "--yes", "--cpu", "0.1", "--", "/bin/sh", "-c", "echo shown; sleep 1"];
    let ran = world.command_of_tenant().env("SUANZU_CA", &certificate).args(words).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && out == "shown\n", "{out} {err}");
    world.stop();
}
