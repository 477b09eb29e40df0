//! Finding the engine's socket.

use bollard::{API_DEFAULT_VERSION, Docker};
use std::path::Path;

/// Seconds a single request may take; generous, since every caller puts its own bound around it.
const REQUEST_SECONDS: u64 = 120;

/// Where to look. Everything absent means: the usual places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Target {
    /// A socket, or a named pipe on Windows; wins over everything else.
    pub socket_path: Option<String>,
    /// What `DOCKER_HOST` says.
    pub docker_host: Option<String>,
    /// What `XDG_RUNTIME_DIR` says, for rootless engines.
    pub runtime_dir: Option<String>,
    /// The home folder, for Docker Desktop.
    pub home: Option<String>,
}

/// An address that the client understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket or a named pipe.
    Socket(String),
    /// Plain HTTP.
    Http(String),
}

/// Picks the address.
///
/// # Errors
/// With a sentence about a scheme that is not supported.
pub fn address(target: &Target, exists: impl Fn(&str) -> bool) -> Result<Address, String> {
    if let Some(path) = target.socket_path.as_deref().filter(|path| !path.is_empty()) {
        return Ok(Address::Socket(path.to_owned()));
    }
    if let Some(host) = target.docker_host.as_deref().filter(|host| !host.is_empty()) {
        return match host.split_once("://") {
            Some(("unix" | "npipe", path)) => Ok(Address::Socket(path.to_owned())),
            Some(("tcp" | "http", _)) => Ok(Address::Http(host.to_owned())),
            _ => Err(format!(
                "DOCKER_HOST={host} is not supported; use unix://, npipe:// or tcp:// without TLS"
            )),
        };
    }
    if cfg!(windows) {
        return Ok(Address::Socket("//./pipe/docker_engine".to_owned()));
    }
    let standard = "/var/run/docker.sock".to_owned();
    let runtime_dir = target.runtime_dir.as_deref().unwrap_or_default();
    let home = target.home.as_deref().unwrap_or_default();
    let found = [
        standard.clone(),
        format!("{runtime_dir}/docker.sock"),
        format!("{home}/.docker/run/docker.sock"),
        format!("{runtime_dir}/podman/podman.sock"),
        "/run/podman/podman.sock".to_owned(),
    ]
    .into_iter()
    .find(|path| exists(path));
    Ok(Address::Socket(found.unwrap_or(standard)))
}

/// A client for the target, speaking a version of the API that the engine knows.
///
/// # Errors
/// With a sentence when no engine answers there.
pub async fn connect(target: &Target) -> Result<Docker, String> {
    let address = address(target, |path| Path::new(path).exists())?;
    let client = match &address {
        Address::Socket(path) => Docker::connect_with_socket(path, REQUEST_SECONDS, API_DEFAULT_VERSION),
        Address::Http(url) => Docker::connect_with_http(url, REQUEST_SECONDS, API_DEFAULT_VERSION),
    };
    let place = match &address {
        Address::Socket(place) | Address::Http(place) => place,
    };
    let said = |error: bollard::errors::Error| format!("{place}: {}", reason(&error));
    client.map_err(said)?.negotiate_version().await.map_err(said)
}

/// The text of an error and of what lies behind it: the outer one often says only "client error".
#[must_use]
pub fn reason(error: &bollard::errors::Error) -> String {
    if let bollard::errors::Error::DockerResponseServerError { message, .. } = error {
        return message.clone();
    }
    let mut text = error.to_string();
    let mut inner = std::error::Error::source(error);
    while let Some(cause) = inner {
        let more = cause.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        inner = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn the_order_of_places() {
        let socket = |path: &str| Ok(Address::Socket(path.to_owned()));
        let target = |socket_path: &str, docker_host: &str| Target {
            socket_path: Some(socket_path.to_owned()),
            docker_host: Some(docker_host.to_owned()),
            runtime_dir: Some("/run/user/1".to_owned()),
            home: Some("/home/me".to_owned()),
        };
        let none = |_: &str| false;
        assert_eq!(address(&target("/a.sock", "tcp://h:1"), none), socket("/a.sock"));
        assert_eq!(address(&target("", "unix:///b.sock"), none), socket("/b.sock"));
        assert_eq!(address(&target("", "tcp://h:1"), none), Ok(Address::Http("tcp://h:1".to_owned())));
        assert!(address(&target("", "ssh://h"), none).unwrap_err().contains("ssh://h"));
        assert_eq!(address(&target("", ""), none), socket("/var/run/docker.sock"));
        let podman = "/run/user/1/podman/podman.sock";
        assert_eq!(address(&target("", ""), |path| path == podman), socket(podman));
    }
}
