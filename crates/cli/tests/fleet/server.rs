//! A server of one's own: `overtone fleet up` and `down`.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::world::{Machine, free_port, read};

/// Ends the server even if the test fails.
struct Up<'a>(&'a Machine);

impl Drop for Up<'_> {
    fn drop(&mut self) {
        let _ = self.0.run(&["fleet", "down"]);
    }
}

#[test]
fn up_joins_is_the_same_again_and_down_keeps_the_data() {
    let machine = Machine::new();
    let _up = Up(&machine);
    let port = free_port();
    let (url, text) = (format!("nats://127.0.0.1:{port}"), port.to_string());
    let first = machine.json(&["fleet", "up", "--port", &text]);
    assert_eq!((&first["started"], &first["url"]), (&json!(true), &json!(url)));
    assert_eq!(read(&machine.state("config.json"))["fleet"]["url"], json!(url));
    let again = machine.json(&["fleet", "up"]);
    assert_eq!((&again["started"], &again["pid"]), (&json!(false), &first["pid"]));
    // Nobody gets in without the login, which is in a private file and nowhere else.
    let other = Machine::new();
    other.run(&["fleet", "join", &url]).fails(1, "cannot reach");
    let login = machine.state("fleet/server/login");
    let password = fs::read_to_string(&login).unwrap().trim().split_once(':').unwrap().1.to_owned();
    assert_eq!(fs::metadata(&login).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!first.to_string().contains(&password));
    let log = fs::read_to_string(machine.state("fleet/server/server.log")).unwrap();
    let line = fs::read(format!("/proc/{}/cmdline", first["pid"])).unwrap();
    assert!(!log.contains(&password) && !String::from_utf8_lossy(&line).contains(&password));
    assert!(!fs::read_to_string(machine.state("config.json")).unwrap().contains(&password));
    let line = machine.run(&["fleet", "invite"]).ok().stdout;
    other.run_with(&["fleet", "join", "--name", "other"], line.trim()).ok();
    other.run(&["fleet", "up", "--port", &text]).fails(1, &format!("port {port} is in use"));
    other.run(&["fleet", "down"]).fails(1, "no server started by overtone fleet up");
    assert_eq!(machine.json(&["fleet", "down"])["stopped"], first["pid"]);
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    assert!(machine.state("fleet/server/data").exists());
    machine.run(&["fleet", "down"]).fails(1, "no server");
    // It comes back on the same port.
    assert_eq!(machine.json(&["fleet", "up"])["url"], json!(url));
}

#[test]
fn nobody_elses_process_is_ended() {
    let machine = Machine::new();
    fs::create_dir_all(machine.state("fleet/server")).unwrap();
    let ours = std::process::id();
    fs::write(machine.state("fleet/server/server.json"), json!({ "pid": ours, "port": 1 }).to_string())
        .unwrap();
    machine.run(&["fleet", "down"]).fails(1, "no server");
}

#[test]
fn another_fleet_is_not_left_unasked_and_another_port_not_taken() {
    let machine = Machine::new();
    machine.run(&["fleet", "join", "nats://127.0.0.1:1", "--offline"]).ok();
    machine.run(&["fleet", "up", "--port", &free_port().to_string()]).fails(1, "part of another fleet");
    machine.run(&["fleet", "leave"]).ok();
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    machine.run(&["fleet", "up", "--port", &port]).fails(1, "is in use");
    assert!(machine.state("config.json").exists());
}
