//! `overtone fleet up` and `down`: a server on this machine.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;

use overtone_testkit::nats::free_port;
use serde_json::json;

use crate::common::read_json;
use crate::machine::Machine;

/// Ends the server even if the test fails.
struct Up<'a>(&'a Machine);

impl Drop for Up<'_> {
    fn drop(&mut self) {
        let _ = self.0.run("fleet down");
    }
}

#[test]
fn up_starts_one_server_and_down_keeps_its_data() {
    let machine = Machine::with_nats_server();
    let _up = Up(&machine);
    let port = free_port();
    let url = format!("nats://127.0.0.1:{port}");
    let first = machine.json(&format!("fleet up --port {port}"));
    assert_eq!((&first["started"], &first["url"]), (&json!(true), &json!(url)));
    assert_eq!(read_json(&machine.state_file("config.json"))["fleet"]["url"], json!(url));
    let again = machine.json("fleet up");
    assert_eq!((&again["started"], &again["pid"]), (&json!(false), &first["pid"]));
    // Nobody gets in without the login, which is in a private file and nowhere else.
    let other = Machine::with_nats_server();
    other.run_args(&["fleet", "join", &url]).fails_with(1, "cannot reach");
    let login = machine.state_file("fleet/server/login");
    let password = fs::read_to_string(&login).unwrap().trim().split_once(':').unwrap().1.to_owned();
    assert_eq!(fs::metadata(&login).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!first.to_string().contains(&password));
    let log = fs::read_to_string(machine.state_file("fleet/server/server.log")).unwrap();
    let line = fs::read(format!("/proc/{}/cmdline", first["pid"])).unwrap();
    assert!(!log.contains(&password) && !String::from_utf8_lossy(&line).contains(&password));
    assert!(!fs::read_to_string(machine.state_file("config.json")).unwrap().contains(&password));
    let line = machine.run("fleet invite").succeeds().stdout;
    other.run_with_stdin("fleet join --name other", line.trim()).succeeds();
    other.run(&format!("fleet up --port {port}")).fails_with(1, &format!("port {port} is in use"));
    other.run("fleet down").fails_with(1, "no server started by overtone fleet up");
    assert_eq!(machine.json("fleet down")["stopped"], first["pid"]);
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    assert!(machine.state_file("fleet/server/data").exists());
    machine.run("fleet down").fails_with(1, "no server");
    // It comes back on the same port.
    assert_eq!(machine.json("fleet up")["url"], json!(url));
}

#[test]
fn down_stops_no_other_process() {
    let machine = Machine::new();
    fs::create_dir_all(machine.state_file("fleet/server")).unwrap();
    let ours = std::process::id();
    fs::write(machine.state_file("fleet/server/server.json"), json!({ "pid": ours, "port": 1 }).to_string())
        .unwrap();
    machine.run("fleet down").fails_with(1, "no server");
}

#[test]
fn up_refuses_another_fleet_and_a_port_in_use() {
    let machine = Machine::with_nats_server();
    machine.run("fleet join nats://127.0.0.1:1 --offline").succeeds();
    machine
        .run_args(&["fleet", "up", "--port", &free_port().to_string()])
        .fails_with(1, "part of another fleet");
    machine.run("fleet leave").succeeds();
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    machine.run_args(&["fleet", "up", "--port", &port]).fails_with(1, "is in use");
    assert!(machine.state_file("config.json").exists());
}
