//! Starts and stops what runs beside the web server: notifications, commands from Telegram, and the export.

use std::fmt;
use std::sync::{Arc, Weak};

use crate::remote::{RemoteService, SessionBackend, Setup};
use overtone_session::control::ControlCommand;
use overtone_session::view::Summary;
use overtone_store::{Session, SessionId};

use crate::dashboard::actions;
use crate::dashboard::app::App;
use crate::dashboard::hub::Update;

/// The sessions of the server, for notifications. It does not keep the server alive.
struct AppSessions(Weak<App>);

impl fmt::Debug for AppSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AppSessions")
    }
}

impl SessionBackend for AppSessions {
    fn sessions(&self) -> Vec<Summary> {
        let Some(app) = self.0.upgrade() else { return Vec::new() };
        let index = app.index();
        index.entries().map(|entry| entry.summary.clone()).collect()
    }

    fn session(&self, id: &SessionId) -> Option<Summary> {
        let app = self.0.upgrade()?;
        let index = app.index();
        index.get(id).map(|entry| entry.summary.clone())
    }

    fn stop(&self, session: &Session, by: &str) -> Result<(), String> {
        let Some(app) = self.0.upgrade() else { return Err(String::new()) };
        let result = actions::control(&app, session, &ControlCommand::Stop, by);
        result.map_err(|error| error.message(app.lang))
    }

    fn touch(&self) {
        if let Some(app) = self.0.upgrade() {
            app.touch();
        }
    }
}

/// Starts the notifications if a channel is configured. An error is reported and the server runs without them.
pub(crate) fn start_remote(app: &Arc<App>) {
    let setup = Setup {
        home: app.home.clone(),
        version: app.version,
        lang: app.lang,
        backend: Arc::new(AppSessions(Arc::downgrade(app))),
    };
    match RemoteService::start(setup) {
        Ok(Some(remote)) => {
            // Setting it cannot fail: it is started once.
            let _ = app.remote.set(remote);
        }
        Ok(None) => {}
        Err(error) => eprintln!("[overtone/remote] cannot start: {error}"),
    }
}

impl App {
    /// Sends updates to the connected clients, the notifications and the export.
    pub(crate) fn publish(&self, updates: &[Update]) {
        self.hub.publish(updates);
        for update in updates {
            if let Some(remote) = self.remote.get() {
                remote.notify_changed(update.session());
            }
            if let Some(telemetry) = self.telemetry.get() {
                telemetry.notify_changed(update.session());
            }
        }
    }

    /// Whether a client, the notifications or the export need to know about changes.
    pub(crate) fn has_subscribers(&self) -> bool {
        self.hub.listeners() > 0 || self.remote.get().is_some() || self.telemetry.get().is_some()
    }

    /// Whether the server must keep running although no client uses it.
    pub(crate) fn has_background_work(&self) -> bool {
        let is_remote_needed = matches!(self.remote.get(), Some(remote) if remote.is_needed());
        let is_export_needed = matches!(self.telemetry.get(), Some(exporter) if exporter.is_needed());
        is_remote_needed || is_export_needed || self.is_needed_by_fleet()
    }

    /// Stops the notifications and the export, before another server may take over.
    pub(crate) fn stop_services(&self) {
        if let Some(remote) = self.remote.get() {
            remote.stop();
        }
        if let Some(telemetry) = self.telemetry.get() {
            telemetry.stop();
        }
    }
}
