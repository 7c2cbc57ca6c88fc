//! Notifications and commands from afar, wired to the sessions that this server knows.

use std::fmt;
use std::sync::{Arc, Weak};

use overtone_remote::{Host, Remote, Setup};
use overtone_store::{Session, SessionId};
use overtone_telemetry::Exporter;
use overtone_view::Summary;

use crate::actions::{self, Action, Refused};
use crate::app::App;
use crate::hub::News;

/// The server as the notifications see it. It does not keep the server alive.
struct Sessions(Weak<App>);

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sessions")
    }
}

impl Host for Sessions {
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
        actions::change(&app, session, &Action::Stop, by).map_err(|refused| match refused {
            Refused::Not(reason) | Refused::Failed(reason) => reason,
        })
    }

    fn touch(&self) {
        if let Some(app) = self.0.upgrade() {
            app.touch();
        }
    }
}

/// Begins, if something is configured. A server without notifications is better than none.
pub(crate) fn start(app: &Arc<App>) {
    let setup = Setup {
        home: app.home.clone(),
        version: app.version,
        lang: app.lang,
        host: Arc::new(Sessions(Arc::downgrade(app))),
    };
    match Remote::start(setup) {
        Ok(Some(remote)) => {
            // It is started once.
            let _ = app.remote.set(remote);
        }
        Ok(None) => {}
        Err(error) => eprintln!("[overtone/remote] cannot start: {error}"),
    }
}

impl App {
    /// Tells everybody: those who listen here, and those far away.
    pub(crate) fn publish(&self, news: &[News]) {
        self.hub.publish(news);
        for one in news {
            if let Some(remote) = self.remote.get() {
                remote.tell(one.session());
            }
            if let Some(telemetry) = self.telemetry.get() {
                telemetry.tell(one.session());
            }
        }
    }

    /// Whether somebody wants to know what happens.
    pub(crate) fn is_followed(&self) -> bool {
        self.hub.listeners() > 0 || self.remote.get().is_some() || self.telemetry.get().is_some()
    }

    /// Whether it must stay although nobody uses it.
    pub(crate) fn is_needed_afar(&self) -> bool {
        self.remote.get().is_some_and(Remote::is_needed)
            || self.telemetry.get().is_some_and(Exporter::is_needed)
            || self.is_needed_by_fleet()
    }

    /// Before another server may take over.
    pub(crate) fn stop_telling(&self) {
        if let Some(remote) = self.remote.get() {
            remote.stop();
        }
        if let Some(telemetry) = self.telemetry.get() {
            telemetry.stop();
        }
    }
}
